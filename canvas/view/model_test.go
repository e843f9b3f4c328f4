package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// wire records the payloads sent to Views.
type wire struct {
	mu   sync.Mutex
	sent []sentCall
}

type sentCall struct {
	to channels.ConnID
	id string
}

func (w *wire) Post(context.Context, ahp.Value) error { return nil }

func (w *wire) PostTo(_ context.Context, to canvas.View, payload ahp.Value) error {
	var m toPage
	if err := ahp.Unmarshal(payload, &m); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, sentCall{to.Conn, m.ID})
	return nil
}

func (w *wire) take() []sentCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sent
	w.sent = nil
	return s
}

// TestModel compares Pages with a queue of Views and a list of calls, while Views
// connect, disconnect, and answer their own and other Views' calls.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var failed any // rapid panics to end a failed run; a panic must not leave the bubble
		synctest.Test(t, func(*testing.T) {
			defer func() { failed = recover() }()
			model(rt)
		})
		if failed != nil {
			panic(failed)
		}
	})
}

type modelCall struct {
	to    channels.ConnID // 0 while it waits for a View
	ended chan error
	value chan string
}

func model(t *rapid.T) {
	w := &wire{}
	next := 0
	p := New(Options{To: w, NewID: func() string { next++; return fmt.Sprint(next) }})
	defer p.Close(context.Background())
	var views []channels.ConnID
	calls := map[string]*modelCall{}
	done := func(id string, value string, err error) {
		synctest.Wait()
		select {
		case got := <-calls[id].ended:
			if !errors.Is(got, err) || err == nil && <-calls[id].value != value {
				t.Fatalf("call %s ended with %v, want %q, %v", id, got, value, err)
			}
			delete(calls, id)
		default:
			t.Fatalf("call %s still waits, want %q, %v", id, value, err)
		}
	}
	conn := rapid.Custom(func(t *rapid.T) channels.ConnID { return channels.ConnID(rapid.IntRange(1, 4).Draw(t, "conn")) })
	say := func(from channels.ConnID, rest string) {
		p.Message(context.Background(), canvas.View{Conn: from}, ahp.Value(`{"x-ahp":"view/1",`+rest+`}`))
		synctest.Wait()
	}
	// sent checks that each call was sent as in the model, and once.
	sent := func() {
		synctest.Wait()
		for _, s := range w.take() {
			c := calls[s.id]
			if c == nil || c.to != 0 || len(views) == 0 || s.to != views[0] {
				t.Fatalf("call %s was sent to %d; the views are %v", s.id, s.to, views)
			}
			c.to = s.to
		}
		for id, c := range calls {
			if c.to == 0 && len(views) > 0 {
				t.Fatalf("call %s was not sent; the views are %v", id, views)
			}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"invoke": func(*rapid.T) {
			if len(calls) == maxCalls {
				return
			}
			c := &modelCall{ended: make(chan error, 1), value: make(chan string, 1)}
			calls[fmt.Sprint(next+1)] = c
			go func() {
				v, err := p.Invoke(context.Background(), "go", nil)
				c.value <- string(v)
				c.ended <- err
			}()
			sent()
		},
		"hello": func(t *rapid.T) {
			from := conn.Draw(t, "from")
			if say(from, `"type":"hello"`); !slices.Contains(views, from) {
				views = append(views, from)
			}
			sent()
		},
		"leave": func(t *rapid.T) {
			from := conn.Draw(t, "from")
			views = slices.DeleteFunc(views, func(v channels.ConnID) bool { return v == from })
			if rapid.Bool().Draw(t, "bye") {
				say(from, `"type":"bye"`)
			} else {
				p.ViewGone(canvas.View{Conn: from})
			}
			for id, c := range calls {
				if c.to == from {
					done(id, "", ErrLeft)
				}
			}
			sent()
		},
		"answer": func(t *rapid.T) {
			from, id := conn.Draw(t, "from"), fmt.Sprint(rapid.IntRange(1, next+1).Draw(t, "id"))
			say(from, `"type":"result","id":"`+id+`","value":`+id)
			if c := calls[id]; c != nil && c.to == from {
				done(id, id, nil)
			}
		},
	})
	_ = p.Close(context.Background())
	for id := range calls {
		done(id, "", errClosed)
	}
}

// FuzzMessage: no payload of a page breaks Pages or completes a call.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{`{"x-ahp":"view/1","type":"hello"}`, `{"x-ahp":"view/1","type":"result","id":"1","value":{}}`,
		`{"x-ahp":"view/1","type":"error","id":"1","error":{"code":"c","message":"m"}}`, `{"x-ahp":"http/1"}`, `5`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		plain := false
		p := New(Options{To: &wire{}, OnMessage: func(context.Context, canvas.View, ahp.Value) { plain = true }})
		p.Message(t.Context(), canvas.View{Conn: 1}, payload)
		if plain == tagged(payload) || len(p.views) > 1 || len(p.calls) != 0 {
			t.Fatalf("plain %v, %d views, %d calls", plain, len(p.views), len(p.calls))
		}
	})
}
