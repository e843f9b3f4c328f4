package sample_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// counter is a small canvas: the agent reads the number, people increase it.
type counter struct {
	N int `json:"n"`
}

var declaration = canvas.Declaration{
	CanvasID: "counter", DisplayName: "Counter", Description: "Counts.",
	Actions: []session.SessionCanvasAction{{Name: "read"}, {Name: "add"}},
}

type by struct {
	By int `json:"by"`
}

func add(s counter, _ sample.Call, in by) (counter, sample.Result, error) {
	if in.By < 0 {
		return s, sample.Result{}, canvas.Errorf("counter_invalid", "only up")
	}
	s.N += in.By
	return s, sample.Result{Value: s.N, Event: s}, nil
}

func newCounter() canvas.Provider {
	return sample.New(sample.Definition[counter]{
		Page: fstest.MapFS{
			"index.html": {Data: []byte("<!doctype html>counter")},
			"ui.js":      {Data: []byte("// its own")},
		},
		Open: func(s counter, input ahp.Value) (counter, error) {
			var in by
			if input != nil {
				if err := ahp.Unmarshal(input, &in); err != nil {
					return s, err
				}
			}
			return counter{s.N + 10*in.By}, nil
		},
		Agent: map[string]sample.Action[counter]{
			"read": sample.With("counter_invalid", func(s counter, _ sample.Call, _ struct{}) (counter, sample.Result, error) {
				return s, sample.Result{Value: s}, nil
			}),
		},
		Person: map[string]sample.Action[counter]{"add": sample.With("counter_invalid", add)},
		Show:   func(s counter) any { return s },
		Title:  func(counter) string { return "Counter" },
		Status: func(s counter) string { return string(ahp.MustMarshal(s)) },
	})
}

func TestProvider(t *testing.T) {
	canvastest.TestProvider(t, canvastest.Config{
		Provider: newCounter(), Declaration: declaration,
		Input: ahp.Value(`{"by":1}`), Other: ahp.Value(`{"by":2}`), Action: "read", Path: "/",
	})
}

type bench struct {
	*canvastest.Host
	t       *testing.T
	reg     canvas.Registration
	channel string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	h := canvastest.New(t, engine.Options{})
	reg := h.Register(canvas.Extension{ID: "counter"}, newCounter(), declaration)
	return &bench{h, t, reg, h.Open("counter", "c", ahp.Value(`{"by":1}`)).Channel}
}

func (b *bench) invoke(name string) (string, error) {
	v, err := b.Canvases.Invoke(b.t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "c", ActionName: name})
	return string(v), err
}

// received returns the provider's messages to a View since the last call, without
// the echoes of the View's own.
func received(v *canvastest.View) (payloads []string) {
	for _, e := range v.Take() {
		p, ok := strings.CutPrefix(string(e.Action), `{"type":"canvas/message","payload":`)
		if ok && e.Origin == nil {
			payloads = append(payloads, strings.TrimSuffix(p, "}"))
		}
	}
	return payloads
}

// TestViews: a change goes to all Views, an answer to the View that asked, and a
// message of another form has no answer.
func TestViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		one, two := b.Connect("one"), b.Connect("two")
		one.Subscribe(b.channel)
		two.Subscribe(b.channel)
		for _, step := range []struct {
			say      string
			one, two []string
		}{
			{`{"sample":"hello"}`, []string{`{"sample":"state","revision":1,"state":{"n":10}}`}, nil},
			{`{"sample":"do","ref":1,"action":"add","input":{"by":2}}`,
				[]string{`{"sample":"state","revision":2,"state":{"n":12}}`, `{"sample":"done","ref":1,"value":12}`},
				[]string{`{"sample":"state","revision":2,"state":{"n":12}}`}},
			{`{"sample":"do","ref":2,"action":"add","input":{"by":0}}`, []string{`{"sample":"done","ref":2,"value":12}`}, nil},
			{`{"sample":"do","ref":3,"action":"add","input":{"by":-1}}`,
				[]string{`{"sample":"refused","ref":3,"code":"counter_invalid","message":"only up"}`, `{"sample":"state","revision":2,"state":{"n":12}}`}, nil},
			{`{"sample":"do","ref":4,"action":"read"}`, // only the agent may read
				[]string{`{"sample":"refused","ref":4,"code":"canvas_action_no_handler","message":"this canvas has no action \"read\""}`, `{"sample":"state","revision":2,"state":{"n":12}}`}, nil},
			{`{"board":"hello"}`, nil, nil},
			{`{"sample":"dance"}`, nil, nil},
		} {
			one.Say(b.channel, step.say)
			synctest.Wait()
			if diff := cmp.Diff(step.one, received(one)); diff != "" {
				t.Errorf("%s: the View that asked (-want +got)\n%s", step.say, diff)
			}
			if diff := cmp.Diff(step.two, received(two)); diff != "" {
				t.Errorf("%s: the other View (-want +got)\n%s", step.say, diff)
			}
		}
		page, err := b.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		if err != nil || len(page.Events) != 1 || string(page.Events[0].Event) != `{"n":12}` {
			t.Errorf("events: %+v, %v", page, err)
		}
		if _, err := b.invoke("add"); !errors.Is(err, &canvas.Error{Code: canvas.CodeNoHandler}) { // only a person may add
			t.Errorf("the agent added: %v", err)
		}
	})
}

// TestReopen: the same input changes nothing, another input is applied to the current
// value, and a provider that was unreachable gets its saved value back.
func TestReopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		reads := func(want string) {
			t.Helper()
			if got, err := b.invoke("read"); err != nil || got != want {
				t.Errorf("the counter is %s, %v; want %s", got, err, want)
			}
		}
		b.Open("counter", "c", ahp.Value(`{ "by": 1 }`))
		reads(`{"n":10}`)
		b.Open("counter", "c", ahp.Value(`{"by":2}`))
		reads(`{"n":30}`)
		b.reg.SetReachable(false)
		b.reg.SetReachable(true)
		synctest.Wait()
		reads(`{"n":30}`)
		if st := b.State(b.channel); *st.Title != "Counter" || *st.Status != `{"n":30}` {
			t.Errorf("%q: %q", *st.Title, *st.Status)
		}
	})
}

// TestFiles: a page has the shared files, and its own replace them.
func TestFiles(t *testing.T) {
	b := newBench(t)
	v := b.Connect("view")
	v.Subscribe(b.channel)
	for _, c := range []struct{ path, want string }{
		{"/", "counter"}, {"/ui.js", "// its own"}, {"/link.js", "onMessage"}, {"/base.css", "--background-color-default"}, {"/none.js", ""}, {"/page/ui.js", ""},
	} {
		raw, err := b.Canvases.Content.CanvasReadResource(t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: b.channel, URI: canvas.ContentURL("c", c.path)})
		if c.want == "" {
			if !errors.Is(err, ahp.ErrNotFound) {
				t.Errorf("%s: %s, %v", c.path, raw, err)
			}
			continue
		}
		if err != nil || !strings.Contains(string(raw), c.want) {
			t.Errorf("%s: %.200s, %v", c.path, raw, err)
		}
	}
}
