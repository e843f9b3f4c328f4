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

// What clients ask of a few instances, and what they are told.
type (
	request struct {
		op       string // open, close, list
		instance int
	}
	answer struct {
		known bool   // false: none came, and it may have happened
		found bool   // of close
		open  uint64 // of list: a bit an instance
	}
)

const instances = 4

// model is what open, close and list promise: one set, changed at one moment
// between question and answer, also over the host's end. What was not answered
// has happened or not.
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

// history is what clients asked and heard.
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
		back = time.Hour // it may still happen, at any time
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: int64(call), Output: out, Return: int64(back)})
	return out.known
}

// TestLinearizable: 8 clients open, close and list over restarts by kill -9, and
// there is one order of all that explains what each was told.
func TestLinearizable(t *testing.T) {
	n, total := lives(5, 50), 0
	for round := range n {
		m, h := newMachine(t), &history{start: time.Now()}
		for life := range 3 {
			s := m.serve()
			h.load(t, s, life*8, func() {
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
	t.Logf("%d histories of 8 clients over 3 lives: %d operations", n, total)
}

// load runs 8 clients until each got no answer, and calls end meanwhile.
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
