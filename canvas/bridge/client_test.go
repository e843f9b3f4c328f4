package bridge

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// sentMessages records the messages of a Client.
type sentMessages struct {
	mu  sync.Mutex
	all []ahp.Value
}

func (h *sentMessages) send(p ahp.Value) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, p.Clone())
	return nil
}

func (h *sentMessages) last() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) == 0 {
		return ""
	}
	return string(h.all[len(h.all)-1])
}

// A host's violation ends only its request, for which the client sends cancel.
func TestClientRules(t *testing.T) {
	head := `{"x-ahp":"http/1","type":"response","id":1,"status":200,"headers":[]}`
	chunk := `{"x-ahp":"http/1","type":"data","id":1,"seq":%d,"data":"` + base64.StdEncoding.EncodeToString(make([]byte, maxChunk)) + `"}`
	var flood []string
	for n := range 17 {
		flood = append(flood, fmt.Sprintf(chunk, n))
	}
	for _, test := range []struct {
		name string
		host []string
	}{
		{"data before the head", []string{`{"x-ahp":"http/1","type":"data","id":1,"seq":0,"data":"eA=="}`}},
		{"a second head", []string{head, head}},
		{"a number left out", []string{head, `{"x-ahp":"http/1","type":"data","id":1,"seq":1,"data":"eA=="}`}},
		{"a number twice", []string{head, fmt.Sprintf(chunk, 0), fmt.Sprintf(chunk, 0)}},
		{"more than the window", append([]string{head}, flood...)},
		{"a malformed head", []string{`{"x-ahp":"http/1","type":"response","id":1,"status":20,"headers":[]}`}},
		{"malformed data", []string{head, `{"x-ahp":"http/1","type":"data","id":1,"seq":0,"data":"e"}`}},
		{"a window past its bound", []string{`{"x-ahp":"http/1","type":"grant","id":1,"bytes":2147483647}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &sentMessages{}
				c := NewClient(ClientOptions{Send: h.send})
				defer c.Close()
				var failed error
				var wg sync.WaitGroup
				release := make(chan struct{})
				wg.Go(func() {
					resp, err := c.RoundTrip(get(t, "/"))
					if failed = err; err == nil {
						<-release // the body is read after everything was sent
						_, failed = io.Copy(io.Discard, resp.Body)
					}
				})
				synctest.Wait()
				for _, m := range test.host {
					c.Message(ahp.Value(m))
				}
				synctest.Wait()
				said := h.last()
				close(release)
				wg.Wait()
				if !errors.Is(failed, &Error{Code: CodeProtocol}) {
					t.Errorf("the request ended with %v", failed)
				}
				if said != `{"x-ahp":"http/1","type":"cancel","id":1,"reason":"protocol"}` {
					t.Errorf("the client said %s", said)
				}
			})
		})
	}
}

// The connection's window is credited for data of unknown requests too.
func TestClientCreditsConnection(t *testing.T) {
	h := &sentMessages{}
	c := NewClient(ClientOptions{Send: h.send})
	defer c.Close()
	chunk := `{"x-ahp":"http/1","type":"data","id":77,"seq":0,"data":"` + base64.StdEncoding.EncodeToString(make([]byte, maxChunk)) + `"}`
	for range 8 {
		c.Message(ahp.Value(chunk))
	}
	if got := h.last(); got != `{"x-ahp":"http/1","type":"credit","id":0,"lane":262144}` {
		t.Errorf("the client said %q", got)
	}
}

func TestClientClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClient(ClientOptions{Send: (&sentMessages{}).send})
		var wg sync.WaitGroup
		errs := make([]error, 3)
		r, w := io.Pipe()
		for n, body := range []io.Reader{nil, strings.NewReader("x"), r} {
			wg.Go(func() {
				req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://canvas/", body)
				_, errs[n] = c.RoundTrip(req)
			})
		}
		synctest.Wait()
		c.Close()
		wg.Wait()
		_ = w.Close()
		for n, err := range errs {
			if !errors.Is(err, ErrLost) {
				t.Errorf("request %d ended with %v", n, err)
			}
		}
		if _, err := c.RoundTrip(get(t, "/")); !errors.Is(err, ErrLost) {
			t.Errorf("a request after that ended with %v", err)
		}
	})
}

// Requests beyond the limit wait, and stop waiting with their context.
func TestClientWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &sentMessages{}
		c := NewClient(ClientOptions{Send: h.send, Requests: 2})
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _, _ = c.RoundTrip(get(t, "/").WithContext(ctx)) })
		}
		synctest.Wait()
		if len(h.all) != 2 {
			t.Errorf("%d requests were sent, two may be", len(h.all))
		}
		c.Message(ahp.Value(`{"x-ahp":"http/1","type":"response","id":1,"status":204,"headers":[],"end":true}`))
		synctest.Wait()
		if len(h.all) != 3 {
			t.Errorf("%d requests were sent after one ended", len(h.all))
		}
		cancel()
		wg.Wait()
	})
}

func TestClientTrailersAndErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := &script{}
		_, c := pair(t, Options{RoundTripper: app})
		var wg sync.WaitGroup
		wg.Go(func() {
			resp, body := do(t, c, "GET", "/", "")
			if body != "ab" || resp.Trailer.Get("X-Sum") != "9f" {
				t.Errorf("got %q, trailers %v", body, resp.Trailer)
			}
		})
		synctest.Wait()
		r := app.at(1)
		r.answer(&appAnswer{Status: 200})
		_ = r.body.first([]byte("ab"), false)
		r.resp.Trailer.Set("X-Sum", "9f")
		_ = r.body.first(nil, true)
		wg.Wait()

		wg.Go(func() {
			resp, err := c.RoundTrip(get(t, "/"))
			if err != nil {
				t.Error(err)
				return
			}
			body, err := io.ReadAll(resp.Body)
			if string(body) != "half" || !errors.Is(err, &Error{Code: CodeBroken}) {
				t.Errorf("got %q, %v", body, err)
			}
		})
		synctest.Wait()
		r = app.at(2)
		r.answer(&appAnswer{Status: 200})
		_ = r.body.first([]byte("half"), false)
		r.body.fail(io.ErrUnexpectedEOF, false)
		wg.Wait()
	})
}

// A message that the host rejects fails its request, and its window is returned.
func TestClientRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &sentMessages{}
		c := NewClient(ClientOptions{Send: h.send})
		defer c.Close()
		var failed error
		var wg sync.WaitGroup
		wg.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://canvas/", strings.NewReader("hello"))
			_, failed = c.RoundTrip(req)
		})
		synctest.Wait()
		c.Refused(ahp.Value(h.last()))
		wg.Wait()
		if !errors.Is(failed, &Error{Code: CodeBusy}) || c.out.left != connToHost || !strings.Contains(h.last(), `"type":"cancel"`) {
			t.Errorf("the request ended with %v, with %d bytes of the window, and the last message is %s", failed, c.out.left, h.last())
		}
	})
}
