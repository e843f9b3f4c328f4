package serve

import (
	"context"
	"runtime"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestStatus(t *testing.T) {
	ready, stale := canvas.OpenCanvas{Availability: session.Ready}, canvas.OpenCanvas{Availability: session.Stale}
	for want, open := range map[string][]canvas.OpenCanvas{
		"  0 canvases open, 7 connected":          nil,
		"  1 canvas open, 7 connected":            {ready},
		"  3 canvases open, 2 stale, 7 connected": {ready, stale, stale},
	} {
		if got := status(open, 7); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestStatusLineEnds checks that the status line disappears when the host stops.
func TestStatusLineEnds(t *testing.T) {
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registerFolders(h, nil); err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	if err := (&hosted{host: h}).openAll(t.Context(), "", folders(nil).defaults()); err != nil {
		t.Fatal(err)
	}
	var b termtest.Buffer
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		followStatus(ctx, term.NewStatusLine(&b), h, func() string { return "" })
	}()
	for b.String() == "" {
	}
	stop()
	<-ended
	const erase = "\r\x1b[K"
	if got, want := b.String(), erase+"  1 canvas open, 0 connected"+erase; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestGreetDrivesNoTerminal(t *testing.T) {
	termtest.PrintsSafely(t, func(env *term.Env) {
		h := &hosted{notes: []string{termtest.Hostile}, endpoint: reach.Endpoint{Link: "link"}}
		_ = h.greet(env, []string{termtest.Hostile})
	})
}

// TestRelayNotEncrypted checks that a host warns if its tokens go to a relay without
// encryption.
func TestRelayNotEncrypted(t *testing.T) {
	for relay, want := range map[string]int{"": 0, "ws://localhost:1/": 0, "ws://[::1]:1/": 0, "wss://relay.example/": 0, "ws://relay.example/": 1} {
		if notes := (&uplink{relay: relay}).notes(); len(notes) != want {
			t.Errorf("%s: %q", relay, notes)
		}
	}
}

// TestUseProcessors runs four goroutines at once on a small machine, unless the operator
// chose a number.
func TestUseProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	t.Setenv("GOMAXPROCS", "1")
	if useProcessors(); runtime.GOMAXPROCS(0) != 1 {
		t.Errorf("%d at once, the operator wants 1", runtime.GOMAXPROCS(0))
	}
	t.Setenv("GOMAXPROCS", "")
	useProcessors()
	if got := runtime.GOMAXPROCS(0); runtime.NumCPU() < fewProcessors && got != fewProcessors {
		t.Errorf("%d at once on %d processors, want %d", got, runtime.NumCPU(), fewProcessors)
	}
}
