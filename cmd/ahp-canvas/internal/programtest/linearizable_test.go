package programtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// The requests of clients about a few instances, and the answers.
type (
	request struct {
		op       string // open, close, list
		instance int
	}
	answer struct {
		known bool   // false if there was no answer; the operation might have happened
		found bool   // of close
		open  uint64 // of list: one bit for each instance
	}
)

const instances = 4

// model is the promise of open, close and list: a single set, which changes at one moment
// between request and answer, also across the end of the host. Without an answer, the
// change has happened or not.
var model = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{uint64(0)} },
	Step: func(state, input, output any) []any {
		set, in, out := state.(uint64), input.(request), output.(answer)
		bit := uint64(1) << in.instance
		switch in.op {
		case "open":
			if out.known {
				return []any{set | bit}
			}
			return []any{set, set | bit}
		case "close":
			if out.known && out.found != (set&bit != 0) {
				return nil
			}
			if out.known {
				return []any{set &^ bit}
			}
			return []any{set, set &^ bit}
		}
		if out.known && out.open != set {
			return nil
		}
		return []any{set}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v -> %v", input, output) },
}).ToModel()

// history is the requests of clients with their answers.
type history struct {
	mu    sync.Mutex
	start time.Time
	ops   []porcupine.Operation
}

func (h *history) run(client int, in request, ask func() answer) bool {
	call := time.Since(h.start)
	out := ask()
	back := time.Since(h.start)
	if !out.known {
		back = time.Hour // it can still happen, at any time
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: int64(call), Output: out, Return: int64(back)})
	return out.known
}

// TestLinearizable runs 8 clients that open, close and list while the host is killed and
// restarted. One order of all operations must explain every answer.
func TestLinearizable(t *testing.T) {
	n, total := runs(5, 50), 0
	for round := range n {
		m, h := newMachine(t), &history{start: time.Now()}
		for run := range 3 {
			s := m.serve()
			h.load(t, s, run*8, func() {
				after(60*time.Millisecond + rand.N(60*time.Millisecond))
				_ = s.cmd.Process.Kill()
				<-s.done
			})
		}
		total += len(h.ops)
		switch res := porcupine.CheckOperationsTimeout(model, h.ops, 30*time.Second); res {
		case porcupine.Ok:
		case porcupine.Illegal:
			t.Errorf("history %d of %d operations has no order that explains it", round, len(h.ops))
		default:
			t.Logf("history %d of %d operations was too long to be checked", round, len(h.ops))
		}
	}
	t.Logf("%d histories of 8 clients over 3 runs: %d operations", n, total)
}

// load runs 8 clients until none gets an answer, and calls end meanwhile.
func (h *history) load(t *testing.T, s *server, first int, end func()) {
	var wg sync.WaitGroup
	for n := range 8 {
		door, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: s.MCP, Token: s.AgentToken})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(first), uint64(n)))
			for {
				in := request{[]string{"open", "close", "list"}[rnd.IntN(3)], rnd.IntN(instances)}
				if !h.run(first+n, in, func() answer { return put(t, door, in) }) {
					return
				}
			}
		})
	}
	end()
	wg.Wait()
}

func put(t *testing.T, door *mcp.Client, in request) answer {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	id := fmt.Sprintf("i%d", in.instance)
	switch in.op {
	case "open":
		_, err := door.Call(ctx, "open_canvas", ahp.MustMarshal(map[string]any{"canvasId": "board", "instanceId": id}))
		return answer{known: err == nil}
	case "close":
		_, err := door.Call(ctx, "close_canvas", ahp.MustMarshal(map[string]any{"instanceId": id}))
		missing := errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound})
		return answer{known: err == nil || missing, found: err == nil}
	}
	raw, err := door.Call(ctx, "list_open_canvases", ahp.Value(`{}`))
	if err != nil {
		return answer{}
	}
	var list struct {
		OpenCanvases []struct {
			InstanceID string `json:"instanceId"`
		} `json:"openCanvases"`
	}
	if err := unmarshalLoosely(raw, &list); err != nil {
		t.Error(err)
	}
	out := answer{known: true}
	for _, c := range list.OpenCanvases {
		var n int
		if _, err := fmt.Sscanf(c.InstanceID, "i%d", &n); err == nil {
			out.open |= 1 << n
		}
	}
	return out
}
