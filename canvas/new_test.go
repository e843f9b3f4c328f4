package canvas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

type greeting struct {
	Name  string    `json:"name" jsonschema:"who to greet"`
	Times int       `json:"times,omitzero"`
	Raw   ahp.Value `json:"raw,omitzero"`
	Image []byte    `json:"image,omitzero"`
}

type theme struct {
	Dark bool `json:"dark,omitzero"`
}

var helloFiles = fstest.MapFS{"index.html": {Data: []byte("<h1>Hello</h1>")}}

// hello is a canvas with all options, and a record of its calls.
type hello struct {
	*canvas.Canvas
	mu    sync.Mutex
	calls []string
}

func newHello() *hello {
	h := &hello{}
	h.Canvas = canvas.New("hello", "Says hello.", canvas.DisplayName("Hello!"), canvas.Files(helloFiles),
		canvas.OnOpen(func(ctx context.Context, v *canvas.Handle, req canvas.OpenRequest, in theme) error {
			h.note("open %s dark=%t saved=%q", v.InstanceID(), in.Dark, req.Saved)
			return v.SetTitle(ctx, "Hello")
		}),
		canvas.OnClose(func(_ context.Context, v *canvas.Handle) error {
			h.note("close %s", v.InstanceID())
			return nil
		}),
	)
	canvas.AddAction(h.Canvas, "greet", "Greets someone.", func(ctx context.Context, v *canvas.Handle, in greeting) (any, error) {
		return nil, v.SetTitle(ctx, "Hello, "+in.Name)
	})
	canvas.AddAction(h.Canvas, "count", "Counts.", func(context.Context, *canvas.Handle, struct{}) (map[string]int, error) {
		return map[string]int{"n": 1}, nil
	})
	canvas.AddAction(h.Canvas, "echo", "Answers with its input.", func(_ context.Context, _ *canvas.Handle, in ahp.Value) (ahp.Value, error) {
		return in, nil
	})
	return h
}

func (h *hello) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, fmt.Sprintf(format, args...))
}

func TestCanvasIsAProvider(t *testing.T) {
	h := newHello()
	canvastest.TestProvider(t, canvastest.Config{
		Provider: h, Declaration: h.Declarations()[0],
		Input: ahp.Value(`{"dark":true}`), Other: ahp.Value(`{}`),
		Action: "greet", ActionInput: ahp.Value(`{"name":"you"}`), Path: "/index.html",
	})
}

func TestCanvasDeclaration(t *testing.T) {
	c := newHello()
	if x := c.Extension(); x.ID != "hello" || x.Name != "Hello!" {
		t.Errorf("extension %+v", x)
	}
	have := string(ahp.MustMarshal(c.Declarations()))
	const want = `[{"canvasId":"hello","displayName":"Hello!","description":"Says hello.",` +
		`"inputSchema":{"type":"object","properties":{"dark":{"type":"boolean"}},"additionalProperties":false},"actions":[` +
		`{"name":"greet","description":"Greets someone.","inputSchema":{"type":"object","properties":{` +
		`"name":{"type":"string","description":"who to greet"},"times":{"type":"integer"},"raw":true,"image":{"type":"string","contentEncoding":"base64"}},` +
		`"required":["name"],"additionalProperties":false}},` +
		`{"name":"count","description":"Counts.","inputSchema":{"type":"object","additionalProperties":false}},` +
		`{"name":"echo","description":"Answers with its input."}]}]`
	if have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

// The functions of a canvas receive the typed input and the instance's handle.
func TestCanvasFunctions(t *testing.T) {
	c := newHello()
	h := canvastest.New(t, engine.Options{})
	h.Register(c.Extension(), c, c.Declarations()...)
	if o := h.Open("hello", "one", nil); o.Title != "Hello" || !strings.HasSuffix(o.URL, "/index.html") {
		t.Errorf("opened %+v", o)
	}
	h.Open("hello", "one", ahp.Value(`{"dark":true}`))
	invoke := func(action, input string) (string, error) {
		v, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "one", ActionName: action, Input: ahp.Value(input)})
		return string(v), err
	}
	for _, tc := range []struct{ action, input, want string }{
		{"greet", `{"name":"world"}`, ""},
		{"count", `{}`, `{"n":1}`},
		{"echo", `{"a":[1]}`, `{"a":[1]}`},
	} {
		if v, err := invoke(tc.action, tc.input); v != tc.want || err != nil {
			t.Errorf("%s: %s, %v", tc.action, v, err)
		}
	}
	open, err := h.Canvases.ListOpen(canvastest.Session)
	if err != nil || len(open) != 1 || open[0].Title != "Hello, world" {
		t.Errorf("open %+v, %v", open, err)
	}
	for input, want := range map[string]string{
		`{"name":1}`:                       "/input/name",
		`{}`:                               "/input",
		`{"name":"a","other":1}`:           "/input",
		`{"name":"a","image":"no base64"}`: "/input/image", // a rule that the schema does not state
	} {
		_, err := invoke("greet", input)
		if e, ok := errors.AsType[*canvas.Error](err); !ok || e.Code != canvas.CodeInputInvalid || e.Path != want || e.Rule == "" {
			t.Errorf("%s: %#v", input, err)
		}
	}
	if err := h.Canvases.Close(t.Context(), canvastest.Session, "one"); err != nil {
		t.Error(err)
	}
	want := []string{`open one dark=false saved=""`, `open one dark=true saved=""`, "close one"}
	if !slices.Equal(c.calls, want) {
		t.Errorf("calls %q, want %q", c.calls, want)
	}
}

// A reopen that fails leaves the open instance: its OnClose does not run.
func TestCanvasReopenThatFails(t *testing.T) {
	c := newHello()
	h := canvastest.New(t, engine.Options{})
	first := newRefusing(c)
	h.Register(c.Extension(), first, c.Declarations()...)
	h.Open("hello", "one", nil)
	first.url = "file:///etc/passwd" // rejected by the host after the provider has answered
	if _, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "hello", InstanceID: "one", Input: ahp.Value(`{"dark":true}`)}); err == nil {
		t.Fatal("the url was accepted")
	}
	if open, err := h.Canvases.ListOpen(canvastest.Session); err != nil || len(open) != 1 {
		t.Errorf("open %+v, %v", open, err)
	}
	if slices.Contains(c.calls, "close one") {
		t.Errorf("calls %q", c.calls)
	}
}

// refusing replaces the url in a canvas's answers to opens, if url is not empty.
type refusing struct {
	canvas.Provider
	url string
}

func newRefusing(p canvas.Provider) *refusing { return &refusing{Provider: p} }

func (r *refusing) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	o, err := r.Provider.Open(ctx, req, h)
	if r.url != "" {
		o.URL = r.url
	}
	return o, err
}

func TestAddActionPanics(t *testing.T) {
	type list struct {
		Next *list `json:"next"`
	}
	for name, add := range map[string]func(*canvas.Canvas){
		"a text as input": addAction[string],
		"a channel as a member": addAction[struct {
			C chan int `json:"c"`
		}],
		"a recursive type": addAction[list],
		"after the canvas": func(c *canvas.Canvas) { c.Declarations(); addAction[struct{}](c) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "canvas.AddAction: action go") {
					t.Errorf("panicked with %s", text)
				}
			}()
			add(canvas.New("c", "A canvas."))
			t.Error("added")
		})
	}
}

func addAction[In any](c *canvas.Canvas) {
	canvas.AddAction(c, "go", "Goes.", func(context.Context, *canvas.Handle, In) (any, error) { return nil, nil })
}
