package drive

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// request is a call of a tool about one canvas.
type request struct {
	to     reach.Target
	env    *term.Env
	what   string // the canvas, for people
	has    func(context.Context, *mcp.Client) bool
	input  inputFlags
	schema func(context.Context, *mcp.Client) ahp.Value // of the input; nil if unknown
}

// ofCanvas is a request about a canvas that can be opened.
func ofCanvas(env *term.Env, to reach.Target, extensionID, canvasID string) request {
	find := func(ctx context.Context, c *mcp.Client) *session.SessionCanvasDeclaration {
		all, _ := listDeclared(ctx, c, to.Session) // without an answer the host does not have it
		i := slices.IndexFunc(all, func(d session.SessionCanvasDeclaration) bool {
			return d.CanvasID == canvasID && (extensionID == "" || d.ExtensionID == extensionID)
		})
		if i < 0 {
			return nil
		}
		return &all[i]
	}
	return request{
		to: to, env: env, what: fmt.Sprintf("the canvas %q", canvasID),
		has: func(ctx context.Context, c *mcp.Client) bool { return find(ctx, c) != nil },
		schema: func(ctx context.Context, c *mcp.Client) ahp.Value {
			if d := find(ctx, c); d != nil {
				return d.InputSchema
			}
			return nil
		},
	}
}

// ofInstance is a request about an open canvas.
func ofInstance(env *term.Env, to reach.Target, instanceID, action string) request {
	return request{
		to: to, env: env, what: fmt.Sprintf("the open canvas %q", instanceID),
		has: func(ctx context.Context, c *mcp.Client) bool {
			open, _ := listOpen(ctx, c, to.Session) // without an answer the host does not have it
			return slices.ContainsFunc(open, func(o session.OpenCanvasRef) bool { return o.InstanceID == instanceID })
		},
		schema: func(ctx context.Context, c *mcp.Client) ahp.Value {
			for _, a := range actionsOf(ctx, c, to.Session, instanceID) {
				if a.Name == action {
					return a.InputSchema
				}
			}
			return nil
		},
	}
}

// dial connects to the host that has the canvas.
func (r request) dial(ctx context.Context) (*mcp.Client, error) {
	to, err := r.to.Narrow(ctx, r.env, r.what, r.has)
	if err != nil {
		return nil, err
	}
	return to.Dial(ctx, r.env)
}

// call runs a tool of the host that has the canvas. args returns the arguments for the
// input that the command line gives.
func (r request) call(ctx context.Context, tool string, args func(*mcp.Client, ahp.Value) (any, error)) (ahp.Value, error) {
	input, err := r.input.read(r.env.In)
	if err != nil {
		return nil, err
	}
	defer r.env.Progress("Waiting for the host")()
	c, err := r.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if len(r.input.fields) > 0 {
		if input, err = r.input.withFields(input, r.schema(ctx, c)); err != nil {
			return nil, err
		}
	}
	a, err := args(c, input)
	if err != nil {
		return nil, err
	}
	return c.Call(ctx, tool, ahp.MustMarshal(a))
}

// The end of an instance's name, without characters that look like others.
const (
	nameLetters = "23456789abcdefghjkmnpqrstuvwxyz"
	nameEnd     = 4
	nameStart   = 40 // characters of the canvas id
)

// newInstance returns a name for a new instance, which a person can type: the canvas id
// and a few random characters. A number would be the same for two commands that run at
// the same time, and both would open one canvas.
func newInstance(canvasID string, open []session.OpenCanvasRef) string {
	start := []rune(canvasID)
	for {
		name := string(start[:min(len(start), nameStart)]) + "-" + randomEnd()
		if !slices.ContainsFunc(open, func(o session.OpenCanvasRef) bool { return o.InstanceID == name }) {
			return name
		}
	}
}

func randomEnd() string {
	var b [nameEnd]byte
	_, _ = rand.Read(b[:]) // never fails
	var end strings.Builder
	for _, c := range b {
		end.WriteByte(nameLetters[int(c)%len(nameLetters)])
	}
	return end.String()
}
