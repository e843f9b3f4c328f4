package appview_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
)

// FuzzArguments: whatever a chat sends to the two tools of a View, the answer is JSON or an
// error of a canvas, and without a ticket nothing is attached.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{
		`{"channel":"ahp-canvas:/x","ticket":"T","view":"00112233445566778899aabbccddeeff"}`, `{"channel":"c","ticket":"T","view":"x","after":-1}`,
		`{"channel":"c","ticket":"T","view":"00112233445566778899aabbccddeeff","after":0,"wait":1e9,"say":[{"seq":1,"payload":{"x-ahp":"http/1"}}]}`,
		`{"channel":"c","ticket":"T","view":"00112233445566778899aabbccddeeff","path":"/../x","part":-1,"file":true}`, `[]`, `{"say":7}`,
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, raw string, holds bool) {
		attached := 0
		apps := appview.New(appview.Options{Key: []byte("key"), Attach: func(attach.Args) (*attach.View, error) {
			attached++
			return nil, canvas.Errorf(canvas.CodeInstanceNotFound, "no such canvas is open")
		}})
		defer apps.Close()
		var read appview.ReadArgs
		var sync appview.SyncArgs
		readable, syncable := ahp.Unmarshal([]byte(raw), &read) == nil, ahp.Unmarshal([]byte(raw), &sync) == nil
		if holds {
			read.Ticket, sync.Ticket = apps.Ticket(read.Channel), apps.Ticket(sync.Channel)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		check := func(answer any, err error) {
			if _, ok := errors.AsType[*canvas.Error](err); err != nil && !ok {
				t.Fatalf("%v", err)
			}
			if b, failed := json.Marshal(answer); failed != nil {
				t.Fatalf("%s: %v", b, failed)
			}
		}
		if readable {
			a, err := apps.Read(ctx, read)
			check(a, err)
		}
		if syncable {
			a, err := apps.Sync(ctx, sync)
			check(a, err)
		}
		if !holds && attached > 0 && read.Ticket != apps.Ticket(read.Channel) {
			t.Fatal("attached without a ticket")
		}
	})
}
