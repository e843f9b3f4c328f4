package view

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// bench is an open canvas whose actions run in its pages.
type bench struct {
	*canvastest.Host
	t       *testing.T
	channel string
	pages   *Pages
	said    chan string // payloads that OnMessage received
}

func newBench(t *testing.T, limits canvas.Limits) *bench {
	t.Helper()
	b := &bench{Host: canvastest.New(t, engine.Options{Limits: limits}), t: t, said: make(chan string, 16)}
	provide := canvas.Func(func(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		var n atomic.Int64
		b.pages = New(Options{To: h, NewID: func() string { return fmt.Sprint("call-", n.Add(1)) },
			OnMessage: func(_ context.Context, from canvas.View, p ahp.Value) { b.said <- from.ClientID + " " + string(p) }})
		return canvas.Opened{Instance: b.pages}, nil
	})
	b.Register(canvas.Extension{ID: "x"}, provide, canvas.Declaration{CanvasID: "c", DisplayName: "C", Actions: []canvas.Action{{Name: "go"}, {Name: "stop"}}})
	b.channel = b.Open("c", "one", nil).Channel
	return b
}

// view connects a View that renders the canvas.
func (b *bench) view(name string) *canvastest.View {
	b.t.Helper()
	v := b.Connect(name)
	v.Subscribe(b.channel)
	return v
}

// says sends a view/1 message of a View, and waits until it is handled.
func (b *bench) says(v *canvastest.View, rest string) {
	v.Say(b.channel, `{"x-ahp":"view/1",`+rest+`}`)
	synctest.Wait()
}

// result is the outcome of an invocation, and its duration.
type result struct {
	value string
	err   error
	after time.Duration
}

func (r result) code() string {
	if e, ok := errors.AsType[*canvas.Error](r.err); ok {
		return e.Code
	}
	return fmt.Sprint(r.err)
}

func (b *bench) invoke(input string) <-chan result {
	begun, ended := time.Now(), make(chan result, 1)
	var in ahp.Value // absent if empty
	if input != "" {
		in = ahp.Value(input)
	}
	go func() {
		v, err := b.Canvases.Invoke(b.t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "one", ActionName: "go", Input: in})
		ended <- result{string(v), err, time.Since(begun)}
	}()
	synctest.Wait()
	return ended
}

// asked returns and removes the calls that a View received, as "id action input".
func asked(v *canvastest.View) []string {
	var lines []string
	for _, e := range v.Take() {
		var a struct {
			Payload toPage `json:"payload"`
		}
		if ahp.Unmarshal(e.Action, &a) == nil && a.Payload.Type == "invoke" {
			lines = append(lines, strings.TrimSpace(a.Payload.ID+" "+a.Payload.Action+" "+string(a.Payload.Input)))
		}
	}
	return lines
}

func want(t *testing.T, got <-chan result, value, code, text string) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-got:
		if r.value != value || (code == "") != (r.err == nil) || code != "" && (r.code() != code || !strings.Contains(r.err.Error(), text)) {
			t.Errorf("ended with %q, %v; want %q, %s %q", r.value, r.err, value, code, text)
		}
	default:
		t.Errorf("still waits; want %q, %s", value, code)
	}
}

func bubble(t *testing.T, limits canvas.Limits, run func(*bench)) {
	synctest.Test(t, func(t *testing.T) { run(newBench(t, limits)) })
}
