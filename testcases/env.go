package testcases

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Env is the host under test of a transcript.
type Env interface {
	// Dial opens a connection. args has the connection's name, as "name", and the
	// key=value words of the open line.
	Dial(ctx context.Context, args map[string]string) (Conn, error)
	// Agent calls a tool at the host's endpoint for agents and returns its result.
	// If the tool fails, the error is an *AgentError. Agent must return once ctx is
	// canceled.
	Agent(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error)
	// Host makes something happen inside the host, as a "host" line describes.
	Host(ctx context.Context, what string) error
	// Flush returns when everything that was sent before has had its effect, and
	// calls of the agent that need not wait have returned. Connections have no
	// order among each other, but the steps of a transcript do.
	Flush()
	// Pass lets time pass.
	Pass(d time.Duration)
}

// Waiter is implemented by an Env in real time. Run then waits for the result of
// the agent's call until the context of WaitAgent is canceled. Without it, the
// result must be there after Flush.
type Waiter interface {
	// WaitAgent returns a context that limits the wait.
	WaitAgent(ctx context.Context) (context.Context, context.CancelFunc)
}

// Quieter is implemented by a Conn in real time, whose Next waits for a frame.
type Quieter interface {
	// Quiet is called instead of Next if the transcript expects no frame. It
	// returns ErrSilent if no frame has arrived after everything that was sent has
	// had its effect.
	Quiet() ([]byte, error)
}

// Repeater is implemented by a Conn that can send a frame many times faster than
// one by one, as a test of flooding needs.
type Repeater interface {
	// SendTimes sends a frame times times.
	SendTimes(frame []byte, times int) error
}

// Conn is one connection of a transcript.
type Conn interface {
	// Send sends a text frame.
	Send(frame []byte) error
	// Next returns the next frame. It returns ErrSilent if none arrives unless time
	// passes, and a *Closed if the host closed the connection.
	Next() ([]byte, error)
	// Close ends the connection: with a close handshake, or cut without one.
	Close(cut bool) error
}

// ErrSilent is returned by Conn.Next if no frame arrives.
var ErrSilent = errors.New("no frame arrived")

// Closed is the end of a connection, as its client observed it.
type Closed struct {
	Code int // the close code
}

// Error describes the close.
func (c *Closed) Error() string { return fmt.Sprintf("closed with %d", c.Code) }

// AgentError is the structured failure of a tool.
type AgentError struct {
	Data ahp.Value // the failure as JSON
}

// Error returns the failure as JSON.
func (e *AgentError) Error() string { return string(e.Data) }
