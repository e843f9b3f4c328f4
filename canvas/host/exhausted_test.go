package host_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// A host that has used the sequence numbers that its store reserved reports it: Serve
// ends with the error, and a program with its own server sees it at /healthz.
func TestExhaustedSequence(t *testing.T) {
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.Exhaust()
	ln := listen(t)
	go func() { _ = http.Serve(ln, h) }()
	status, body := request(t, "GET", "http://"+ln.Addr().String()+"/healthz", "", nil)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "repair the store") {
		t.Errorf("%d %s", status, body)
	}
	if err := h.Serve(t.Context(), listen(t)); !errors.Is(err, channels.ErrSequenceExhausted) {
		t.Errorf("Serve returned %v", err)
	}
	if err := h.Close(); !errors.Is(err, channels.ErrSequenceExhausted) {
		t.Errorf("Close returned %v", err)
	}
}
