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

// The codes of a Client's own errors.
const (
	// CodeUnreachable means that the host did not answer.
	CodeUnreachable = "host_unreachable"
	// CodeTokenRefused means that the host did not accept the token.
	CodeTokenRefused = "host_token_refused"
	// CodeRefused means that the host rejected the call itself, for example because
	// its version does not have the tool.
	CodeRefused = "host_refused"
	// CodeCanceled means that the caller canceled the call.
	CodeCanceled = "cancelled"
)

// ClientOptions configures a Client.
type ClientOptions struct {
	// URL is the host's /mcp endpoint.
	URL string
	// Token is the agent token. It is only sent in the Authorization header.
	Token string
	// Version is the program's version, which the host sees.
	Version string
}

// Client is an MCP client for programs that drive a running host. It is safe for
// concurrent use.
//
// If the host no longer knows the session (it was restarted, or the client was silent
// for Options.SessionTimeout), the client begins a new one and repeats the call that
// was refused, because it did not run. It does not repeat a call whose answer was lost.
// A host that proved its identity at Dial must do so on each later connection, before
// the token is sent (package ahp/proof).
type Client struct {
	opts      ClientOptions
	transport *http.Transport
	lock      chan struct{} // a mutex for session that can be acquired with a context
	// session is nil after a failure, until the next call.
	session *sdk.ClientSession
}

// Dial connects to a host and begins a session. Its errors are *[canvas.Error] with one
// of the codes above. The caller must close the client.
func Dial(ctx context.Context, opts ClientOptions) (*Client, error) {
	c := &Client{opts: opts, transport: NewTransport(), lock: make(chan struct{}, 1)}
	c.transport.DialContext = proof.NewVerifier(opts.URL, opts.Token, c.transport.DialContext).Dial
	c.lock <- struct{}{}
	_, err := c.enter(ctx, nil)
	if err != nil {
		c.transport.CloseIdleConnections()
		return nil, err
	}
	return c, nil
}

// enter returns the session. It begins a new one if there is none, or only spent.
func (c *Client) enter(ctx context.Context, spent *sdk.ClientSession) (*sdk.ClientSession, error) {
	select {
	case <-c.lock:
	case <-ctx.Done():
		return nil, errCanceled
	}
	defer func() { c.lock <- struct{}{} }()
	if c.session != nil && c.session != spent {
		return c.session, nil
	}
	session, err := connect(ctx, c.opts, c.transport)
	if err != nil {
		return nil, err
	}
	c.session = session
	return session, nil
}

// drop closes a failed session, so that the next call begins a new one.
func (c *Client) drop(spent *sdk.ClientSession) {
	<-c.lock
	if c.session == spent {
		c.session = nil
	}
	c.lock <- struct{}{}
	_ = spent.Close() // it failed already
}

func connect(ctx context.Context, opts ClientOptions, transport *http.Transport) (*sdk.ClientSession, error) {
	key := &tokenTransport{token: opts.Token, transport: transport}
	streamable := &sdk.StreamableClientTransport{
		Endpoint:             opts.URL,
		HTTPClient:           &http.Client{Transport: key, CheckRedirect: noRedirect},
		DisableStandaloneSSE: true, // the host sends no notifications
		MaxRetries:           -1,
	}
	can := &sdk.ClientCapabilities{}
	can.AddExtension(appsExtension, appsSettings()) // for clients of a proxy, which filters for each of them
	c := sdk.NewClient(&sdk.Implementation{Name: "ahp-canvas", Version: opts.Version}, &sdk.ClientOptions{Capabilities: can})
	// A version with sessions, in which a cancellation is a message.
	session, err := c.Connect(ctx, streamable, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return nil, key.explain(err)
	}
	return session, nil
}

// Call runs a tool with args, a JSON object, and returns its structured content with
// the exact digits of numbers. Its errors are *[canvas.Error].
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
		return nil, &canvas.Error{Code: CodeUnreachable, Message: "the answer to " + tool + " is not from a canvas host; check the address"}
	}
	return value, nil
}

// forward runs a tool and returns the host's result. Its errors are *[canvas.Error].
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
		_ = session.Close() // the host has already ended it
		if session, err = c.enter(ctx, session); err != nil {
			return nil, err
		}
		result, err = session.CallTool(ctx, params)
	}
	if err == nil {
		return result, nil
	}
	if ctx.Err() != nil {
		return nil, errCanceled
	}
	return nil, c.unanswered(session, err)
}

// unanswered returns the error of a call without a result. The MCP library reports its
// own failures, such as a request that was not sent, as JSON-RPC errors with codes
// above the protocol's.
func (c *Client) unanswered(session *sdk.ClientSession, err error) error {
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	if ok && refused.Code <= jsonrpc.CodeInvalidRequest {
		return &canvas.Error{Code: CodeRefused, Message: "the host rejected the call: " + validUTF8(refused.Message)}
	}
	if !ok {
		c.drop(session)
	}
	return &canvas.Error{Code: CodeUnreachable, Message: "the host did not answer: " + cause(err).Error()}
}

var (
	errCanceled = &canvas.Error{Code: CodeCanceled, Message: "the call was canceled; it may have been done anyway"}
	errNoHost   = &canvas.Error{Code: CodeUnreachable, Message: "the server at this address is not a canvas host; check the address"}
)

// Close ends the session. No call may be active.
func (c *Client) Close() {
	<-c.lock
	defer func() { c.lock <- struct{}{} }()
	if c.session != nil {
		_ = c.session.Close() // an unreachable host ends the session by its timeout
	}
	c.transport.CloseIdleConnections()
}

// tokenTransport adds the token to each request and records the last status, because
// the MCP library turns all refusals into the same error.
type tokenTransport struct {
	token     string
	transport http.RoundTripper
	status    atomic.Int64
}

func (b *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	resp, err := b.transport.RoundTrip(r)
	if err == nil {
		b.status.Store(int64(resp.StatusCode))
	}
	return resp, err
}

// noRedirect stops at redirects, because the token must not reach another host.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// explain returns the error of a session that could not begin.
func (b *tokenTransport) explain(err error) *canvas.Error {
	switch b.status.Load() {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &canvas.Error{Code: CodeTokenRefused, Message: "the host does not accept this token"}
	case http.StatusServiceUnavailable:
		return &canvas.Error{Code: CodeUnreachable, Message: "the host accepts no new agents: it is stopping, or too many are connected"}
	case 0:
		return &canvas.Error{Code: CodeUnreachable, Message: "the host cannot be reached: " + cause(err).Error()}
	}
	return errNoHost
}

// cause returns the reason within a network error, without the address, which the
// caller knows.
func cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
