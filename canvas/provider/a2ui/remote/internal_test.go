package remote

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// TestPlainStaysHere: plain connections stay on this machine whatever a name means, and
// no proxy of the environment receives anything.
func TestPlainStaysHere(t *testing.T) {
	if _, err := dialer(true)(t.Context(), "tcp", "192.0.2.1:80"); err == nil || !strings.Contains(err.Error(), "this machine") {
		t.Errorf("dialed another machine: %v", err)
	}
	if newClient(Options{URL: "https://x"}).Transport.(*http.Transport).Proxy != nil {
		t.Error("the client has a proxy")
	}
}

// TestEveryByteCounts: what arrives ends the silence, whether or not it is an event.
func TestEveryByteCounts(t *testing.T) {
	n := 0
	h := &countedBody{iotest.OneByteReader(strings.NewReader(": x")), func() { n++ }, 0}
	if _, err := io.ReadAll(h); err != nil || n != 3 || h.n != 3 {
		t.Errorf("%d reports of %d bytes, %v; want 3 of 3", n, h.n, err)
	}
}

// TestStates: states have one spelling, and unknown ones are no change.
func TestStates(t *testing.T) {
	for in, want := range map[string]string{
		"working": "working", "TASK_STATE_INPUT_REQUIRED": "input-required", "TASK_STATE_CANCELLED": "canceled", "canceled": "canceled",
		"TASK_STATE_UNSPECIFIED": "", "unknown": "", "": "", "<b>": "",
	} {
		if got := stateOf(in); got != want {
			t.Errorf("state %q is %q, want %q", in, got, want)
		}
	}
}

// FuzzEvents: the reader of events and of their content ends, within its limits, and
// what it accepts has a form that package a2ui reads.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {\"id\":\"1\",\"result\":{\"kind\":\"message\",\"parts\":[{\"text\":\"a\"},{\"data\":[],\"mediaType\":\"application/json+a2ui\"}]}}\n\n"))
	f.Add([]byte("\ufeff: c\r\ndata:{}\r\ndata\r\n\r\nid: 1\n"))
	f.Add([]byte("data: {\"id\":\"1\",\"result\":{\"task\":{\"id\":\"t\",\"status\":{\"state\":\"TASK_STATE_WORKING\",\"message\":{\"parts\":[null]}}}}}\n\ndata"))
	a := &Agent{opts: Options{Name: "x"}}
	f.Fuzz(func(t *testing.T, in []byte) {
		e := newEvents(bytes.NewReader(in), 64<<10)
		r := &reader{id: "1", on: func(r a2ui.Reply) {
			for _, p := range r.Parts {
				if !p.IsValid() {
					t.Errorf("not JSON: %s", p)
				}
			}
		}}
		for range len(in) + 1 {
			data, err := e.next()
			if err == io.EOF || err == io.ErrUnexpectedEOF || err == errEventTooLarge {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = a.take(r, data)
			readFrame(data)
		}
		t.Error("more events than bytes")
	})
}
