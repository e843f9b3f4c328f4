package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// A method that changes nothing is repeated once when its connection is lost, within the time of
// the call. All others fail at once.
func TestSafeCallsAreRepeated(t *testing.T) {
	list := func(c *client.Client) error {
		_, err := client.Call(context.Background(), c, session.ListSessions, session.ListSessionsParams{Channel: ahp.RootURI})
		return err
	}
	create := func(c *client.Client) error {
		_, err := client.Call(context.Background(), c, session.CreateSession, session.CreateSessionParams{Channel: "ahp-session:/x"})
		return err
	}
	read := func(c *client.Client) error {
		_, err := c.ReadResource(context.Background(), "ahp-canvas:/x", "ahp-canvas-content:/x/")
		return err
	}
	for name, tc := range map[string]struct {
		call  func(*client.Client) error
		opts  client.Options
		cuts  int64 // how many connections are lost while the call is under way
		sent  int64
		fails bool
	}{
		"a list":                       {list, client.Options{Backoff: &seconds{}}, 1, 2, false},
		"a resource":                   {read, client.Options{Backoff: &seconds{}}, 1, 2, false},
		"not a change":                 {create, client.Options{Backoff: &seconds{}}, 1, 1, true},
		"once":                         {list, client.Options{Backoff: &seconds{}}, 2, 2, true},
		"not after the call's time":    {list, client.Options{Backoff: &seconds{n: 9}, Timeout: 5 * time.Second}, 1, 1, true},
		"not after the client gave up": {list, client.Options{Backoff: &backoff.StopBackOff{}}, 1, 1, true},
		"not without a Backoff":        {list, client.Options{}, 1, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{}
				f := newFake(t, n)
				var sent atomic.Int64
				f.answer = func(method string, _ ahp.Value) any {
					switch method {
					case ahp.Initialize.Name, ahp.Reconnect.Name:
						if method == ahp.Reconnect.Name {
							return errors.New("unknown")
						}
						return nil
					}
					if sent.Add(1) <= tc.cuts {
						return nil // no answer
					}
					if method == session.ListSessions.Name {
						return session.ListSessionsResult{}
					}
					return ahp.Value(`{"contents":[{"uri":"ahp-canvas-content:/x/","text":"content"}]}`)
				}
				c := dial(t, n, tc.opts)
				done, began := make(chan error, 1), time.Now()
				go func() { done <- tc.call(c) }()
				for range tc.cuts {
					time.Sleep(4 * time.Second)
					n.cut()
				}
				err := <-done
				if took := time.Since(began); (err != nil) != tc.fails || sent.Load() != tc.sent || took > 9*time.Second {
					t.Errorf("sent %d times in %s: %v", sent.Load(), took, err)
				}
				if _, ended := errors.AsType[*client.Closed](err); tc.fails && !ended {
					t.Errorf("the error is %v", fmt.Sprint(err))
				}
			})
		})
	}
}
