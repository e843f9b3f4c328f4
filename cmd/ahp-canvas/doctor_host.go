package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// findHost finds the host that the other commands would drive.
func (d *doctor) findHost() (door, bool) {
	to, err := d.resolve()
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		d.fail("host", e.Message, hintFor(e))
		return door{}, false
	} else if err != nil {
		d.fail("host", err.Error(), "")
		return door{}, false
	}
	d.ok("host", "%s", strings.TrimSuffix(to.url, "/mcp"))
	return to, true
}

// examine goes the way of a person and of an agent, and stops where it ends.
func (d *doctor) examine(ctx context.Context, to door) {
	ctx, cancel := context.WithTimeout(ctx, 6*patience)
	defer cancel()
	base, err := url.Parse(to.url)
	if err != nil {
		d.fail("listener", "the host's address is none", "Give it with --host.")
		return
	}
	if !d.listener(ctx, base) {
		return
	}
	page, ok := d.health(ctx, base)
	if !ok {
		return
	}
	d.agentDoor(ctx, to)
	d.ahpDoor(ctx, base, to)
	d.contentOrigin(ctx, base, page)
}

func (d *doctor) listener(ctx context.Context, base *url.URL) bool {
	address := net.JoinHostPort(base.Hostname(), portOf(base))
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", address)
	if err != nil {
		d.fail("listener", "nothing takes connections at "+address+": "+netError(err), "Its process may be stopped, or something is in between. End it and start another with: ahp-canvas serve")
		return false
	}
	conn.Close()
	d.ok("listener", "%s takes connections", address)
	return true
}

// health asks for /healthz and the page, and returns the page's headers.
func (d *doctor) health(ctx context.Context, base *url.URL) (http.Header, bool) {
	status, body, _, err := fetch(ctx, base, "/healthz", "")
	switch {
	case err != nil:
		d.fail("health", "no answer to /healthz: "+netError(err), "The host hangs: end it and start another with: ahp-canvas serve")
		return nil, false
	case status != http.StatusOK || strings.TrimSpace(body) != "ok":
		d.fail("health", fmt.Sprintf("/healthz answers %d", status), "What listens there is no canvas host, or a proxy does not let it through: look at --host.")
		return nil, false
	}
	status, _, header, err := fetch(ctx, base, "/", "")
	if err != nil || status != http.StatusOK {
		d.fail("health", fmt.Sprintf("/healthz is well, but the page answers %d", status), "Reach the host under its own address, or name this one with: ahp-canvas serve --origin")
		return nil, false
	}
	d.ok("health", "the host and its page answer")
	return header, true
}

func (d *doctor) agentDoor(ctx context.Context, to door) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := mcp.Dial(ctx, mcp.ClientOptions{URL: to.url, Token: to.token, Version: buildVersion()})
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		d.fail("agent token", "MCP: "+e.Message, hintFor(e))
		return
	}
	defer c.Close()
	d.ok("agent token", "MCP takes it")
}

// ahpDoor opens a connection as a page does: with the view token, or where
// nobody knows it with the agent's, which opens this door too.
func (d *doctor) ahpDoor(ctx context.Context, base *url.URL, to door) {
	const check = "AHP, view token"
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	version, err := shakeHands(ctx, strings.Replace(base.Scheme, "http", "ws", 1)+"://"+base.Host+"/ahp", cmp.Or(to.view, to.token))
	if refused, ok := errors.AsType[*ws.HandshakeError](err); ok {
		advice := "A proxy in between may not pass WebSockets on."
		if refused.Status == http.StatusUnauthorized {
			advice = hints[mcp.CodeTokenRefused]
		}
		d.fail(check, fmt.Sprintf("the WebSocket is refused with %d", refused.Status), advice)
		return
	}
	if err != nil {
		d.fail(check, netError(err), "Pages cannot connect: look at the host's log, with serve --log-level debug.")
		return
	}
	d.ok(check, "the host speaks %s", version)
}

// shakeHands opens an AHP connection and returns the version that was picked.
func shakeHands(ctx context.Context, address, token string) (string, error) {
	conn, err := ws.Dial(ctx, address, ws.DialOptions{Token: token, HandshakeTimeout: patience})
	if err != nil {
		return "", err
	}
	defer conn.Wait()
	defer conn.Close(ws.CodeNormal, "")
	defer context.AfterFunc(ctx, func() { conn.Close(ws.CodeGoingAway, "") })()
	hello := struct {
		Version string               `json:"jsonrpc"`
		ID      int                  `json:"id"`
		Method  string               `json:"method"`
		Params  ahp.InitializeParams `json:"params"`
	}{"2.0", 1, "initialize", ahp.InitializeParams{Channel: "ahp-root://", ProtocolVersions: []string{ahp.V0_6_0.String()}, ClientID: "ahp-canvas-doctor"}}
	if err := conn.WriteBatch([][]byte{ahp.MustMarshal(hello)}); err != nil {
		return "", err
	}
	frame, err := conn.ReadMessage()
	if err != nil {
		return "", err
	}
	var answer struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result,omitzero"`
		Error struct {
			Message string `json:"message"`
		} `json:"error,omitzero"`
	}
	if err := ahp.Unmarshal(bytes.TrimSpace(frame), &answer); err != nil || answer.Result.Version == "" {
		return "", fmt.Errorf("the handshake is answered with %q", answer.Error.Message)
	}
	return answer.Result.Version, nil
}

// fetch asks the host for a path, under a name of its own where one is given.
func fetch(ctx context.Context, base *url.URL, path, host string) (int, string, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.Scheme+"://"+base.Host+path, nil)
	if err != nil {
		return 0, "", nil, err
	}
	req.Host = host
	way := mcp.NewTransport() // what the other commands take
	defer way.CloseIdleConnections()
	resp, err := (&http.Client{Transport: way}).Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode, string(body), resp.Header, err
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// netError is what a network error means, without the address.
func netError(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	return err.Error()
}
