package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// findHost finds the host that the other commands would use.
func (d *doctor) findHost(to reach.Target) (reach.Host, bool) {
	h, err := to.Resolve(d.env)
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		d.fail("host", e.Message, term.HintFor(e))
		return h, false
	} else if err != nil {
		d.fail("host", err.Error(), "")
		return h, false
	}
	d.ok("host", "%s", h.Address())
	return h, true
}

// checkHost connects like a person and like an agent. It stops at the first check without
// which the next ones make no sense.
func (d *doctor) checkHost(ctx context.Context, h reach.Host) {
	ctx, cancel := context.WithTimeout(ctx, 6*timeout)
	defer cancel()
	base, err := url.Parse(h.MCP)
	if err != nil {
		d.fail("listener", "the host's address is invalid", "Give another one with --host.")
		return
	}
	if !d.checkListener(ctx, base) {
		return
	}
	page, ok := d.checkHealth(ctx, base)
	if !ok {
		return
	}
	d.checkMCP(ctx, h)
	d.checkAHP(ctx, h)
	d.checkContentOrigin(ctx, base, page)
}

func (d *doctor) checkListener(ctx context.Context, base *url.URL) bool {
	address := net.JoinHostPort(base.Hostname(), portOf(base))
	conn, err := (&net.Dialer{Timeout: timeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		d.fail("listener", "no connection to "+address+": "+netError(err), "The host might be suspended, or a firewall is in between. End it and start a new one with: ahp-canvas serve")
		return false
	}
	conn.Close()
	d.ok("listener", "%s accepts connections", address)
	return true
}

// checkHealth requests /healthz and the page, and returns the page's headers.
func (d *doctor) checkHealth(ctx context.Context, base *url.URL) (http.Header, bool) {
	health, err := get(ctx, base, "/healthz", "")
	switch {
	case err != nil:
		d.fail("health", "no response to /healthz: "+netError(err), "The host hangs. End it and start a new one with: ahp-canvas serve")
		return nil, false
	case health.status == http.StatusServiceUnavailable && strings.HasPrefix(health.body, "host: "):
		d.fail("health", "the host runs, but "+strings.TrimPrefix(strings.TrimSpace(health.body), "host: "), "Free disk space, or make the state folder writable. The host recovers without a restart, unless its message says otherwise.")
		return nil, false
	case health.status != http.StatusOK || strings.TrimSpace(health.body) != "ok":
		d.fail("health", fmt.Sprintf("/healthz responds with %d", health.status), "This is not a canvas host, or a proxy blocks the request. Check --host.")
		return nil, false
	}
	page, err := get(ctx, base, "/", "")
	if err != nil || page.status != http.StatusOK {
		d.fail("health", fmt.Sprintf("/healthz is fine, but the page responds with %d", page.status), "Use the host's own address, or add this one with: ahp-canvas serve --origin")
		return nil, false
	}
	d.ok("health", "the host and its page respond")
	return page.header, true
}

func (d *doctor) checkMCP(ctx context.Context, h reach.Host) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := mcp.Dial(ctx, mcp.ClientOptions{URL: h.MCP, Token: h.Token, Version: d.env.Version})
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		d.fail("agent token", "MCP: "+e.Message, term.HintFor(e))
		return
	}
	defer c.Close()
	d.ok("agent token", "accepted by the MCP endpoint")
}

// checkAHP connects as a page does: with the view token, or with the agent's, which is
// accepted too, if the view token is unknown here.
func (d *doctor) checkAHP(ctx context.Context, h reach.Host) {
	const check = "AHP, view token"
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	version, err := negotiateVersion(ctx, h.AHP(), cmp.Or(h.ViewToken, h.Token))
	if refused, ok := errors.AsType[*ws.HandshakeError](err); ok {
		advice := "A proxy in between might not forward WebSockets."
		if refused.Status == http.StatusUnauthorized {
			advice = term.Hint(mcp.CodeTokenRefused)
		}
		d.fail(check, fmt.Sprintf("the WebSocket is refused with %d", refused.Status), advice)
		return
	}
	if err != nil {
		d.fail(check, netError(err), "Pages cannot connect. Start the host with --log-level debug and read its log.")
		return
	}
	d.ok(check, "the host speaks AHP %s", version)
}
