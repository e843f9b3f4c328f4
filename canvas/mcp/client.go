package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// The codes of failures to reach a host at all, and of a host that does not know
// what it is asked, as one of another version.
const (
	CodeUnreachable  = "host_unreachable"
	CodeTokenRefused = "host_token_refused"
	CodeRefused      = "host_refused"
	CodeCancelled    = "cancelled"
)

// ClientOptions say which host to enter.
type ClientOptions struct {
	URL     string // of the endpoint /mcp
	Token   string // the agent token; it goes into a header and nowhere else
	Version string // of the program, for the host
}

// Client is an agent's side of the door, for programs that drive a running
// host. It is safe for concurrent use.
//
// A host that forgot the client (it was restarted, or the client was silent for
// Options.SessionTimeout) is entered again, and the call that it refused for
// that is sent again: it was not run. A call whose answer is lost is not. A host that
// has proven itself at Dial proves itself on every later connection, before the token
// goes there (package ahp/proof).
type Client struct {
	opts ClientOptions
	way  *http.Transport
	turn chan struct{} // holds a token while nobody looks at session
	// session is nil after a failure, until the next call.
	session *sdk.ClientSession
}

// Dial enters a host. Its errors are *[canvas.Error] with one of the codes
// above; close the client when it is of no more use.
func Dial(ctx context.Context, opts ClientOptions) (*Client, error) {
	c := &Client{opts: opts, way: NewTransport(), turn: make(chan struct{}, 1)}
	c.way.DialContext = proof.NewDoor(opts.URL, opts.Token, c.way.DialContext).Dial
	c.turn <- struct{}{}
	_, err := c.enter(ctx, nil)
	if err != nil {
		c.way.CloseIdleConnections()
		return nil, err
	}
	return c, nil
}

// enter returns the session, or a new one where there is none or it is spent.
func (c *Client) enter(ctx context.Context, spent *sdk.ClientSession) (*sdk.ClientSession, error) {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return nil, errCancelled
	}
	defer func() { c.turn <- struct{}{} }()
	if c.session != nil && c.session != spent {
		return c.session, nil
	}
	session, err := connect(ctx, c.opts, c.way)
	if err != nil {
		return nil, err
	}
	c.session = session
	return session, nil
}

// drop forgets a session that failed.
func (c *Client) drop(spent *sdk.ClientSession) {
	<-c.turn
	if c.session == spent {
		c.session = nil
	}
	c.turn <- struct{}{}
	_ = spent.Close() // it failed already
}

func connect(ctx context.Context, opts ClientOptions, way *http.Transport) (*sdk.ClientSession, error) {
	key := &bearer{token: opts.Token, way: way}
	transport := &sdk.StreamableClientTransport{
		Endpoint:             opts.URL,
		HTTPClient:           &http.Client{Transport: key, CheckRedirect: stay},
		DisableStandaloneSSE: true, // nothing is sent that was not asked for
		MaxRetries:           -1,
	}
	c := sdk.NewClient(
		&sdk.Implementation{Name: "ahp-canvas", Version: opts.Version},
		&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}},
	)
	// With a session, so that the cancellation of a call is a message of its own.
	session, err := c.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return nil, key.explain(err)
	}
	return session, nil
}

// Call runs a tool with arguments that are a JSON object, and returns its
// structured content, with every digit. Every error is a *[canvas.Error].
func (c *Client) Call(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	result, err := c.forward(ctx, tool, args)
	if err != nil {
		return nil, err
	}
	if e := Failure(result); e != nil {
		return nil, e
	}
	value, ok := Structured(result)
	if !ok {
		return nil, &canvas.Error{Code: CodeUnreachable, Message: "the answer to " + tool + " is none of a canvas host"}
	}
	return value, nil
}

// forward runs a tool and returns the result as the host made it. Every error is
// a *[canvas.Error].
func (c *Client) forward(ctx context.Context, tool string, args ahp.Value) (*sdk.CallToolResult, error) {
	if len(args) == 0 {
		args = ahp.Value("{}")
	}
	params := &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}
	session, err := c.enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	result, err := session.CallTool(ctx, params)
	if errors.Is(err, sdk.ErrSessionMissing) {
		_ = session.Close() // there is nothing left of it
		if session, err = c.enter(ctx, session); err != nil {
			return nil, err
		}
		result, err = session.CallTool(ctx, params)
	}
	if err == nil {
		return result, nil
	}
	if ctx.Err() != nil {
		return nil, errCancelled
	}
	return nil, c.unanswered(session, err)
}

// unanswered says why a call has no result. What the library itself has for an error
// of JSON-RPC, as of a request that did not leave, is above the protocol's own codes.
func (c *Client) unanswered(session *sdk.ClientSession, err error) error {
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	if ok && refused.Code <= jsonrpc.CodeInvalidRequest {
		return &canvas.Error{Code: CodeRefused, Message: "the host does not take this call: " + legible(refused.Message)}
	}
	if !ok {
		c.drop(session)
	}
	return &canvas.Error{Code: CodeUnreachable, Message: "the host did not answer: " + plain(err).Error()}
}

var (
	errCancelled = &canvas.Error{Code: CodeCancelled, Message: "the call was cancelled; it may still have happened"}
	errNoHost    = &canvas.Error{Code: CodeUnreachable, Message: "what answers there is no canvas host"}
)

// Close leaves the host. No call may be under way.
func (c *Client) Close() {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	if c.session != nil {
		_ = c.session.Close() // a host that is gone forgets by itself
	}
	c.way.CloseIdleConnections()
}

// bearer puts the token on each request, and remembers how the last one was
// answered: the library turns every refusal into the same error.
type bearer struct {
	token  string
	way    http.RoundTripper
	status atomic.Int64
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	resp, err := b.way.RoundTrip(r)
	if err == nil {
		b.status.Store(int64(resp.StatusCode))
	}
	return resp, err
}

// stay follows no redirect: the token is for this host alone.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// explain says why a host could not be entered.
func (b *bearer) explain(err error) *canvas.Error {
	switch b.status.Load() {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &canvas.Error{Code: CodeTokenRefused, Message: "the host does not take this token"}
	case http.StatusServiceUnavailable:
		return &canvas.Error{Code: CodeUnreachable, Message: "the host takes no new agents: it is stopping, or too many are connected"}
	case 0:
		return &canvas.Error{Code: CodeUnreachable, Message: "no canvas host answers: " + plain(err).Error()}
	}
	return errNoHost
}

// plain takes what a network error means out of what it says: the address is
// the caller's to name.
func plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
