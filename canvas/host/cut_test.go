package host_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// The connections of a provider and a viewer break after some bytes under traffic. After
// they reconnect, all canvases are open and ready, the mirror equals the host's state,
// and no provider has received a request twice. 100 runs; 1,000 with AHP_LONG=1.
func TestCutConnectionsConverge(t *testing.T) {
	runs := 100
	if long() {
		runs = 1000
	}
	var cuts, invoked int
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) {
			r := &cutRun{modelRun: newModelRun(t), random: rand.New(rand.NewPCG(uint64(seed), 0))}
			defer func() {
				if err := r.stop(); err != nil {
					t.Error(err)
				}
			}()
			if err := r.run(); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			cuts += r.cuts
			for k, n := range r.calls {
				if k.method == canvas.CanvasInvokeAction.Name {
					invoked += n
				}
			}
		})
	}
	t.Logf("%d runs, %d connections cut, %d invocations ran, none twice", runs, cuts, invoked)
	if cuts < runs {
		t.Errorf("only %d connections were cut", cuts)
	}
}

type cutRun struct {
	*modelRun
	random *rand.Rand
	cuts   int
	tokens int
}

// rounds is how often a run cuts and reconnects both clients.
const rounds = 4

func (r *cutRun) run() error {
	c := r.clients[0]
	r.connect(c)
	r.declare(c, 2)
	synctest.Wait()
	for range rounds {
		r.cutLater(c.conns[0].raw, 3000, 6000)
		r.cutLater(r.wire, 500, 12000)
		r.traffic(c)
		synctest.Wait()
		if err := r.reconnectAll(c); err != nil {
			return err
		}
		r.applyEvents()
		if err := r.converged(); err != nil {
			return err
		}
	}
	return nil
}

// cutLater breaks a connection after some bytes of either end.
func (r *cutRun) cutLater(conn net.Conn, fromClient, fromHost int) {
	if r.random.IntN(2) == 0 {
		conn.(*ahptest.Conn).CutAfter(r.random.IntN(fromClient))
		return
	}
	r.ends.of(conn).CutAfter(r.random.IntN(fromHost))
}

// keepAlive removes the limit of a connection that has not reached it.
func (r *cutRun) keepAlive(conn net.Conn) {
	conn.(*ahptest.Conn).CutAfter(-1)
	r.ends.of(conn).CutAfter(-1)
}

// traffic opens four canvases, some again or with other input, and runs actions.
func (r *cutRun) traffic(c *provider) {
	for n := range 16 {
		id := fmt.Sprint("i", n%4)
		r.tokens++
		token := fmt.Sprintf(`{"token":%d}`, r.tokens)
		if n < 4 || r.random.IntN(4) == 0 {
			r.open(c, id, []string{"a", "b"}[n%2], token)
		} else {
			r.invoke(id, token)
		}
		if r.random.IntN(2) == 0 {
			synctest.Wait()
		}
	}
	r.expected = nil // a cut decides the outcome of each
}

// reconnectAll reconnects clients that were cut, and opens canvases that could not be opened.
func (r *cutRun) reconnectAll(c *provider) error {
	r.keepAlive(r.wire)
	if r.watcher.Err() != nil {
		r.cuts++
		if err := r.watcher.Reconnect(context.Background()); err != nil {
			return err
		}
	}
	r.keepAlive(c.conns[0].raw)
	if !c.conns[0].alive() {
		r.cuts++
		r.cut(c, 0)
		synctest.Wait()
		r.mu.Lock()
		for _, i := range r.instances {
			i.causes++ // the host opens stale canvases again
		}
		r.mu.Unlock()
		r.reconnect(c, true)
	}
	for n := range 4 {
		r.tokens++
		r.open(c, fmt.Sprint("i", n), []string{"a", "b"}[n%2], fmt.Sprintf(`{"token":%d}`, r.tokens))
	}
	r.expected = nil
	synctest.Wait()
	return nil
}

// converged checks that all canvases are open, ready and equal in host, mirror and provider.
func (r *cutRun) converged() error {
	rows := r.session().OpenCanvases
	if len(rows) != 4 {
		return fmt.Errorf("%d canvases are open, want 4", len(rows))
	}
	for _, row := range rows {
		state, _ := r.host.Log().State(row.Channel)
		if st := state.(canvas.CanvasState); st.Availability != "ready" || !ahp.Equal(st.Input, ahp.Value(r.instances[row.InstanceID].input)) {
			return fmt.Errorf("%s is %s with %s, its provider has %s", row.InstanceID, st.Availability, st.Input, r.instances[row.InstanceID].input)
		}
	}
	if len(r.session().ActiveClients) != 1 {
		return fmt.Errorf("active clients %+v", r.session().ActiveClients)
	}
	return r.check()
}
