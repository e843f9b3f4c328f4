package host_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// long reports whether AHP_LONG=1 asks for long runs: ten times the sequences, and
// assertions about time.
func long() bool { return os.Getenv("AHP_LONG") == "1" }

// modelStep is one step of a random run.
type modelStep struct {
	Op         string
	Who, On, N int
	Mode       mode
}

var modelOps = []string{"connect", "connect", "cut", "cut", "reconnect", "reconnect", "leave", "unsubscribe", "declare", "declare", "declare",
	"open", "open", "open", "open", "reopen", "invoke", "invoke", "close", "personCloses", "mode", "pass", "grace", "watcherDrops", "restart"}

// drawPlan draws a plan with uniformly distributed steps, unlike rapid's own generators;
// shrinking makes it shorter. Two clients begin with declarations.
func drawPlan(t *rapid.T) []modelStep {
	var seed [32]byte
	copy(seed[:], rapid.SliceOfN(rapid.Byte(), len(seed), len(seed)).Draw(t, "seed"))
	n := rapid.IntRange(5, 60).Draw(t, "length")
	random := rand.New(rand.NewChaCha8(seed))
	plan := []modelStep{{Op: "connect"}, {Op: "connect", Who: 1}, {Op: "declare", N: 2}, {Op: "declare", Who: 1, N: 2}}
	for range n {
		s := modelStep{Op: modelOps[random.IntN(len(modelOps))], Who: random.IntN(3), On: random.IntN(4), N: random.IntN(6)}
		if s.Op == "mode" {
			s.Mode = mode(random.IntN(int(modes)))
		}
		plan = append(plan, s)
	}
	return plan
}

// Providers in clients connect, declare, answer well or badly, disconnect and reconnect;
// the agent and a person open, invoke and close; the host crashes and restarts on what it
// has committed. After every step the registry, the catalog, the channels and a mirror
// equal a simple model, and no provider has received a request twice (canvas/PROTOCOL.md
// sections 2 to 5). 1,000 sequences; 10,000 with AHP_LONG=1.
func TestProvidersFollowTheModel(t *testing.T) {
	sequences := 1000
	switch {
	case long():
		sequences = 10000
	case testing.Short():
		sequences = 50
	}
	checks(t, sequences)
	ran, steps, received := 0, 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawPlan(rt)
		var failed error
		synctest.Test(t, func(t *testing.T) { failed = runModel(t, plan, received) })
		ran, steps = ran+1, steps+len(plan)
		if failed != nil {
			rt.Fatal(failed)
		}
	})
	t.Logf("%d sequences, %d steps; providers were asked %v", ran, steps, received)
}

// A provider declares again while two reopens of one canvas wait: the first was asked for
// when its connection was replaced, the second when the client was back. It is asked once
// for the declaration, not also for the first (canvas/PROTOCOL.md section 5).
func TestDeclaringAgainAsksOnce(t *testing.T) {
	plan := []modelStep{
		{Op: "connect", Who: 1}, {Op: "declare", Who: 1, N: 2}, {Op: "open", Who: 1, On: 1}, {Op: "cut", Who: 1},
		{Op: "mode", Who: 1, Mode: late}, {Op: "connect", Who: 1}, {Op: "connect", Who: 1},
		{Op: "mode", Who: 1, Mode: refusing}, {Op: "declare", Who: 1, N: 2},
	}
	synctest.Test(t, func(t *testing.T) {
		if err := runModel(t, plan, map[string]int{}); err != nil {
			t.Error(err)
		}
	})
}

// checks sets how many sequences rapid draws in this test.
func checks(t *testing.T, n int) {
	f := flag.Lookup("rapid.checks")
	was := f.Value.String()
	if err := f.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(was) })
}

// runModel runs the steps of a plan, and counts the requests that providers received.
func runModel(t *testing.T, plan []modelStep, received map[string]int) (failed error) {
	r := newModelRun(t)
	defer func() {
		failed = errors.Join(failed, r.stop())
		time.Sleep(2 * time.Minute) // calls that were active when a step failed end
	}()
	for i, s := range plan {
		r.do(i, s)
		synctest.Wait()
		r.applyEvents()
		if err := r.check(); err != nil {
			return fmt.Errorf("step %d %+v: %w", i, s, err)
		}
	}
	time.Sleep(2 * time.Minute) // every deadline and grace period has passed
	synctest.Wait()
	r.graceOver()
	r.applyEvents()
	if err := r.check(); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	for k, n := range r.calls {
		received[k.method] += n
	}
	return nil
}

func (r *modelRun) do(i int, s modelStep) {
	c := r.clients[s.Who]
	id := fmt.Sprint("i", s.On)
	switch s.Op {
	case "connect":
		r.connect(c)
	case "cut":
		r.cut(c, s.N)
	case "reconnect":
		r.reconnect(c, true)
	case "leave":
		r.reconnect(c, false)
	case "unsubscribe":
		r.unsubscribe(c, s.N)
	case "declare":
		r.declare(c, s.N)
	case "open":
		r.open(c, id, []string{"a", "b"}[s.On%2], "")
	case "reopen":
		r.open(c, id, []string{"a", "b"}[s.On%2], fmt.Sprintf(`{"n":%d}`, s.N))
	case "invoke":
		r.invoke(id, fmt.Sprintf(`{"token":%d}`, i))
	case "close":
		r.closeByAgent(id)
	case "personCloses":
		r.closeByPerson(id)
	case "mode":
		r.mu.Lock()
		c.mode = s.Mode
		r.mu.Unlock()
	case "pass":
		r.pass(time.Duration(s.N) * time.Second)
	case "grace":
		r.pass(31 * time.Second)
	case "watcherDrops":
		r.dropWatcher()
	case "restart":
		r.restart()
	}
}
