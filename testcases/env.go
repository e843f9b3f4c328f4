package testcases

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Env is a host under test, as a transcript sees it.
type Env interface {
	// Dial opens a connection. args are the key=value words of its open line, and
	// its name.
	Dial(ctx context.Context, args map[string]string) (Conn, error)
	// Agent calls a tool of the agent's door and waits for its answer, no longer
	// than ctx. A tool that fails returns an *AgentError.
	Agent(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error)
	// Host makes something happen inside the host.
	Host(ctx context.Context, what string) error
	// Settle returns when what was done before has had its effect, and a call of
	// the agent that takes no time has its answer: connections are not ordered
	// among each other, the steps of a transcript are.
	Settle()
	// Pass lets time pass.
	Pass(d time.Duration)
}

// Waiter is an Env in real time. An answer of the agent that is not there yet is
// waited for, until the context of WaitAgent ends.
type Waiter interface {
	// WaitAgent returns a context that ends when the agent has had its time.
	WaitAgent(ctx context.Context) (context.Context, context.CancelFunc)
}

// Quieter is a Conn in real time: its Next waits for a frame, so silence has a
// question of its own.
type Quieter interface {
	// Quiet is Next where nothing is expected: it returns ErrSilent once what was
	// sent so far has had its effect and nothing has come.
	Quiet() ([]byte, error)
}

// Repeater is a Conn that sends a frame many times faster than one by one: a
// flood has to be one.
type Repeater interface {
	SendTimes(frame []byte, times int) error
}

// Conn is one connection of a transcript.
type Conn interface {
	Send(frame []byte) error
	// Next returns the next frame. Where nothing comes without time passing it
	// returns ErrSilent; where the host closed, a *Closed.
	Next() ([]byte, error)
	// Close ends the connection: with a close handshake, or cut.
	Close(cut bool) error
}

// ErrSilent is returned by Conn.Next where nothing came.
var ErrSilent = errors.New("nothing came")

// Closed is the end of a connection, as its client saw it.
type Closed struct{ Code int }

func (c *Closed) Error() string { return fmt.Sprintf("closed with %d", c.Code) }

// AgentError is a tool's structured failure.
type AgentError struct{ Data ahp.Value }

func (e *AgentError) Error() string { return string(e.Data) }
