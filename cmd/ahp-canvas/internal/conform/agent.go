package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// codeNotTestable is the code for a host on which no case can be played.
const codeNotTestable = "not_testable"

// runError says what to do about a host on which no case can be played.
func runError(url string, err error) error {
	if e, ok := errors.AsType[*ws.HandshakeError](err); ok {
		return term.Failf(codeNotTestable, "%s", handshakeText(e))
	}
	if _, ok := errors.AsType[*ahp.Error](err); ok {
		return term.Failf(codeNotTestable, "no case can be played: %v; each needs a host that supports initialize, createSession, subscribe and disposeSession", err)
	}
	return term.Failf(codeNotTestable, "no case can be played: %v; check that a host listens there and speaks AHP", err)
}

// handshakeText says what to do about a host that refuses a WebSocket.
func handshakeText(e *ws.HandshakeError) string {
	switch e.Status {
	case 401, 403:
		return fmt.Sprintf("the host refuses the token (HTTP %d); give another one with --token-file or in AHP_CANVAS_TOKEN", e.Status)
	case 404, 405, 400, 426:
		return fmt.Sprintf("there is no AHP endpoint at this path (HTTP %d); hosts of this project have it at /ahp", e.Status)
	case 421:
		return "the host does not accept this host name (HTTP 421); use the one in the link that it prints"
	}
	return fmt.Sprintf("the host refuses a WebSocket with HTTP %d", e.Status)
}

// dialTimeout limits the first connection to a host.
const dialTimeout = 10 * time.Second

// mcpAgent calls tools at a host's MCP endpoint.
type mcpAgent struct {
	client *mcp.Client
	tools  []string
}

// Tools implements conform.Toolbox.
func (a mcpAgent) Tools() []string { return a.tools }

// Call implements conform.Agent.
func (a mcpAgent) Call(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	value, err := a.client.Call(ctx, tool, args)
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return nil, &testcases.AgentError{Data: ahp.MustMarshal(term.ErrorLine{Code: e.Code, Message: e.Message, Path: e.Path, Rule: e.Rule, Candidates: e.Candidates, Details: e.ValidDetails()})}
	}
	return value, err
}

// commandAgent calls tools by running the command of --open-cmd.
type commandAgent struct{ line string }

// commandTimeout limits one call. It is as long as a host's own limit.
const commandTimeout = 60 * time.Second

// Call implements conform.Agent.
func (a commandAgent) Call(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", a.line)
	cmd.Env = append(os.Environ(), "AHP_TOOL="+tool)
	cmd.Stdin = bytes.NewReader(args)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	value := ahp.Value(bytes.TrimSpace(out))
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err != nil && (!failed || exit.ExitCode() != 1):
		return nil, fmt.Errorf("--open-cmd: %w", err)
	case !value.IsValid():
		return nil, fmt.Errorf("--open-cmd: the command printed no JSON value for %s", tool)
	case failed:
		return nil, &testcases.AgentError{Data: value}
	}
	return value, nil
}
