package rows

import (
	"math"
	"os"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

// The test binary also runs the sides.
func TestMain(m *testing.M) {
	proc.Main(sides.All)
	os.Exit(m.Run())
}

// Every kind of subscriber counts exactly what its server has published.
func TestReceivers(t *testing.T) {
	for _, kind := range []string{"host", "centrifuge", "nats", "notify"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := &Env{Ctx: t.Context(), Short: true, Dir: t.TempDir()}
			defer e.Close()
			p, err := e.start(kind)
			if err != nil {
				t.Fatal(err)
			}
			c := newReceivers()
			e.Cleanup(c.close)
			if err := c.join(e.Ctx, kind, p, 5, p.Hello.Channel); err != nil {
				t.Fatal(err)
			}
			if kind == "notify" { // the others have responded to a subscription
				if err := await(p, 5); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 10 {
				if _, err := p.Call(proc.Request{Do: "publish", N: 7}); err != nil {
					t.Fatal(err)
				}
				if err := c.wait((i + 1) * 7 * 5); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Every library makes its calls, one at a time and concurrently.
func TestCalls(t *testing.T) {
	for _, name := range []string{"peer", "bare", "xexp", "jrpc2", "mcp", "stock"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &Env{Ctx: t.Context(), Short: true}
			defer e.Close()
			p := &pair{name: name}
			if err := p.begin(e); err != nil {
				t.Fatal(err)
			}
			if _, err := p.several.Call(proc.Request{Do: "pace", N: 20, Rate: 2000}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// An unknown command is an error.
func TestUnknownCommand(t *testing.T) {
	e := &Env{Ctx: t.Context()}
	defer e.Close()
	p, err := e.start("bare")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(proc.Request{Do: "nothing"}); err == nil {
		t.Error("no error")
	}
	if _, err := proc.Start("nothing"); err == nil {
		t.Error("a side that is none has started")
	}
}

func TestBenchValues(t *testing.T) {
	got := benchValues("goos: linux\nBenchmarkRelay/64_lanes_of_8_KiB-2 \t 5\t 12 ns/op\t 1.5 x-splice\t 14 MB\nBenchmarkRelay/64_lanes_of_8_KiB-2 5 12 ns/op 2.5 x-splice 15 MB\nPASS\n")
	if v := got["64_lanes_of_8_KiB"]["x-splice"]; len(v) != 2 || v[0] != 1.5 || v[1] != 2.5 {
		t.Errorf("got %v", got)
	}
}

func TestSlope(t *testing.T) {
	if s := slope([]float64{1, 2, 3, 4}, []float64{5, 7, 9, 11}); math.Abs(s-2) > 1e-9 {
		t.Errorf("slope %v, want 2", s)
	}
}
