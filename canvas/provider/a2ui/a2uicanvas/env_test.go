package a2uicanvas_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
)

const (
	surfaceOne = `{"version":"v0.9","createSurface":{"surfaceId":"one","catalogId":"` + a2ui.BasicCatalogID + `","sendDataModel":true}}`
	surfaceTwo = `{"version":"v0.9","createSurface":{"surfaceId":"two","catalogId":"` + a2ui.BasicCatalogID + `"}}`
	button     = `{"version":"v0.9","updateComponents":{"surfaceId":"one","components":[{"id":"root","component":"Button","child":"text","action":{"event":{"name":"go"}}},{"id":"text","component":"Text","text":"Go"}]}}`
	data       = `{"version":"v0.9","updateDataModel":{"surfaceId":"one","path":"/","value":{"n":12345678901234567890.10}}}`
	form       = `[` + surfaceOne + `,` + button + `,` + data + `]`
	action     = `{"version":"v0.9","action":{"name":"go","surfaceId":"one","sourceComponentId":"root","timestamp":"2026-02-25T10:40:00Z","context":{}}}`
)

// bench is a host with the canvases, in a bubble of synctest.
type bench struct {
	*canvastest.Host
	t       *testing.T
	p       *a2uicanvas.Provider
	channel string
}

// bubble runs a test with an instance "i" of canvas a2ui.
func bubble(t *testing.T, fn func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, engine.Options{}, a2uicanvas.Options{})
		b.channel = b.Open("a2ui", "i", nil).Channel
		fn(b)
	})
}

func newBench(t *testing.T, eo engine.Options, o a2uicanvas.Options) *bench {
	b := &bench{t: t}
	b.Host = canvastest.New(t, eo)
	b.p = a2uicanvas.New(o)
	t.Cleanup(func() { _ = b.p.Close() })
	b.Register(b.p.Extension(), b.p, b.p.Declarations()...)
	return b
}

// invoke runs an action as an agent, and returns its value, or the error's code, path and
// message.
func (b *bench) invoke(agent, action, input string) string {
	b.t.Helper()
	ctx := canvas.WithCaller(context.Background(), agent)
	v, err := b.Canvases.Invoke(ctx, canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "i", ActionName: action, Input: ahp.Value(input)})
	return valueOrError(v, err)
}

func valueOrError(v ahp.Value, err error) string {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code + " " + e.Path + " " + e.Message
	}
	if err != nil {
		return err.Error()
	}
	return string(v)
}

// apply applies messages, all of which must be right.
func (b *bench) apply(agent, messages string) {
	b.t.Helper()
	if got := b.invoke(agent, "apply", `{"messages":`+messages+`}`); !strings.Contains(got, `"errors":[],`) {
		b.t.Fatalf("apply: %s", got)
	}
}

// events returns an agent's events since the last call.
func (b *bench) events(agent string) (all []string) {
	b.t.Helper()
	synctest.Wait()
	page, err := b.Canvases.Events(canvas.WithCaller(context.Background(), agent), canvastest.Session, 0, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range page.Events {
		all = append(all, string(e.Event))
	}
	return all
}

// page is a View that collects payloads.
type page struct {
	*canvastest.View
	b *bench
}

// join connects a View. A role is "" for a person.
func (b *bench) join(name string) page {
	b.t.Helper()
	p := page{b.Connect(name), b}
	p.Subscribe(b.channel)
	return p
}

// hello connects a View that says hello, and drops what it gets.
func (b *bench) hello(name string) page {
	b.t.Helper()
	p := b.join(name)
	p.say(`{"parts":[]}`)
	p.take()
	return p
}

func (p page) say(payload string) {
	p.b.t.Helper()
	p.Say(p.b.channel, payload)
	synctest.Wait()
}

// act sends messages, with models.
func (p page) act(messages, models string) {
	p.b.t.Helper()
	meta := ""
	if models != "" {
		meta = `,"metadata":{"a2uiClientDataModel":{"version":"v0.9","surfaces":` + models + `}}`
	}
	p.say(`{"parts":[{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":` + messages + `}]` + meta + `}`)
}

// take returns the payloads since the last call.
func (p page) take() (all []string) {
	p.b.t.Helper()
	synctest.Wait()
	for _, e := range p.Take() {
		var a struct {
			Type    string    `json:"type"`
			Payload ahp.Value `json:"payload,omitzero"`
			Extra   ahp.Value `json:",embed"`
		}
		if err := ahp.Unmarshal(e.Action, &a); err != nil {
			p.b.t.Fatal(err)
		}
		if a.Type == "canvas/message" && e.Origin == nil && !strings.Contains(string(a.Payload), `"type":"wanted"`) { // not for renderers
			all = append(all, string(a.Payload))
		}
	}
	return all
}

// part is what a View gets to draw.
type part struct {
	Metadata struct {
		Rev    int64     `json:"x-ahp-canvas/rev"`
		Replay string    `json:"x-ahp-canvas/replay,omitzero"`
		Extra  ahp.Value `json:",embed"`
	} `json:"metadata"`
	Data  []ahp.Value `json:"data"`
	Extra ahp.Value   `json:",embed"`
}

func parsePart(t *testing.T, payload string) (p part) {
	t.Helper()
	if err := ahp.Unmarshal(ahp.Value(payload), &p); err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return p
}
