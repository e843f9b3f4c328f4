package canvas

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Declarer is a Provider that states what it declares, so that a host or a client can
// add it with one call. A [Canvas] is one.
type Declarer interface {
	Provider
	// Extension returns the extension that the provider registers as.
	Extension() Extension
	// Declarations returns the canvases that it offers.
	Declarations() []Declaration
}

// Canvas is a Provider of one canvas, made of functions. Make it with [New], add its
// actions with [AddAction], then add it to a host. It holds no state of its instances:
// functions find theirs by the handle's InstanceID. A provider that needs more control
// is a [Func] that returns an [App], or implements Provider itself.
//
// A Canvas can be added to several hosts. Its functions are called concurrently for
// different instances.
type Canvas struct {
	declaration Declaration
	files       fs.FS
	onOpen      func(ctx context.Context, v *Handle, req OpenRequest) error
	onMessage   func(ctx context.Context, v *Handle, from View, payload ahp.Value)
	onClose     func(ctx context.Context, v *Handle) error
	actions     map[string]actionFunc
	declared    atomic.Bool // Declarations was called
}

type actionFunc func(ctx context.Context, v *Handle, input ahp.Value) (ahp.Value, error)

// Option configures a [Canvas].
type Option func(*Canvas)

// New returns a canvas. The id is also the id of its extension: at most [MaxName] bytes
// without a colon. The description tells an agent what the canvas is for. Without
// [Files] the canvas shows no content.
func New(id, description string, opts ...Option) *Canvas {
	c := &Canvas{
		declaration: Declaration{CanvasID: id, DisplayName: id, Description: description},
		actions:     map[string]actionFunc{},
	}
	for _, opt := range opts {
		opt(c)
	}
	return c
}

// DisplayName sets the name that people see; the default is the canvas's id.
func DisplayName(name string) Option {
	return func(c *Canvas) { c.declaration.DisplayName = name }
}

// Files sets the content. Each open shows the file index.html; all files can be read.
func Files(fsys fs.FS) Option {
	return func(c *Canvas) { c.files = fsys }
}

// OnOpen sets a function that runs for each open of an instance, also when it is opened
// again with other input or after a restart. The host shows the canvas after fn has
// returned; if fn fails, the open fails, or the canvas stays as it was. What v.Save kept
// is in req.Saved.
//
// The schema of the input is inferred from In; see [AddAction].
func OnOpen[In any](fn func(ctx context.Context, v *Handle, req OpenRequest, in In) error) Option {
	schema := schemaOf[In]("canvas.OnOpen")
	return func(c *Canvas) {
		c.declaration.InputSchema = schema
		c.onOpen = func(ctx context.Context, v *Handle, req OpenRequest) error {
			in, err := decodeInput[In](req.Input)
			if err != nil {
				return err
			}
			return fn(ctx, v, req, in)
		}
	}
}

// OnMessage sets a function that receives the messages of Views. It is called for one
// message of an instance at a time, in their order, and must not wait for a View.
func OnMessage(fn func(ctx context.Context, v *Handle, from View, payload ahp.Value)) Option {
	return func(c *Canvas) { c.onMessage = fn }
}

// OnClose sets a function that runs once when an instance is closed. The handle can have
// ended by then, so fn should use it only to identify the instance. The host logs fn's
// error.
func OnClose(fn func(ctx context.Context, v *Handle) error) Option {
	return func(c *Canvas) { c.onClose = fn }
}

// AddAction adds an action to a canvas. The name is unique in the canvas, has at most
// [MaxName] bytes and does not begin with "canvas."; the description tells an agent what
// the action does.
//
// The schema of the action's input is inferred from In, a struct or a map. Fields have
// their JSON names; those without omitzero or omitempty are required; members that In
// does not have are refused. The tag `jsonschema:"..."` describes a field. If In is
// [ahp.Value] or any, the action takes every JSON object. The host checks inputs against
// schemas of up to 32 levels by default ([Limits]); with a deeper one, only the decoding
// into In refuses an input.
//
// fn receives the decoded input. Input that does not fit never reaches it: the caller
// gets [CodeInputInvalid] and the path. The result is any value that encodes to JSON of
// at most 64 KiB; nil is no value. An *[Error] reaches the agent with its code, another
// error with its text.
//
// AddAction panics if In has no schema, and after the canvas was added to a host, which
// would not see the action.
func AddAction[In, Out any](c *Canvas, name, description string, fn func(ctx context.Context, v *Handle, in In) (Out, error)) {
	if c.declared.Load() {
		panic("canvas.AddAction: action " + name + " was added after the canvas; add actions first")
	}
	c.declaration.Actions = append(c.declaration.Actions, Action{
		Name: name, Description: description, InputSchema: schemaOf[In]("canvas.AddAction: action " + name),
	})
	c.actions[name] = func(ctx context.Context, v *Handle, input ahp.Value) (ahp.Value, error) {
		in, err := decodeInput[In](input)
		if err != nil {
			return nil, err
		}
		out, err := fn(ctx, v, in)
		if err != nil {
			return nil, err
		}
		return encodeOutput(out)
	}
}

// Extension implements [Declarer].
func (c *Canvas) Extension() Extension {
	return Extension{ID: c.declaration.CanvasID, Name: c.declaration.DisplayName}
}

// Declarations implements [Declarer]. After it, no action can be added.
func (c *Canvas) Declarations() []Declaration {
	c.declared.Store(true)
	return []Declaration{c.declaration}
}

// Open implements [Provider].
func (c *Canvas) Open(ctx context.Context, req OpenRequest, h *Handle) (Opened, error) {
	if c.onOpen != nil {
		if err := c.onOpen(ctx, h, req); err != nil {
			return Opened{}, err
		}
	}
	opened := Opened{Instance: req.Current}
	if i, ok := req.Current.(*boundCanvas); !ok || i.canvas != c {
		opened.Instance = c.bind(h)
	}
	if c.files != nil {
		opened.URL = h.ContentURL("/index.html")
	}
	return opened, nil
}

// boundCanvas is an instance of a Canvas.
type boundCanvas struct {
	*App
	canvas *Canvas
}

// bind makes an instance: the functions with its handle.
func (c *Canvas) bind(h *Handle) *boundCanvas {
	app := &App{Files: c.files, Actions: make(map[string]func(context.Context, ahp.Value) (ahp.Value, error), len(c.actions))}
	for name, fn := range c.actions {
		app.Actions[name] = func(ctx context.Context, input ahp.Value) (ahp.Value, error) { return fn(ctx, h, input) }
	}
	if c.onMessage != nil {
		app.OnMessage = func(ctx context.Context, from View, payload ahp.Value) { c.onMessage(ctx, h, from, payload) }
	}
	if c.onClose != nil {
		app.OnClose = func(ctx context.Context) error { return c.onClose(ctx, h) }
	}
	return &boundCanvas{app, c}
}
