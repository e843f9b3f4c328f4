package view

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// link is what a host's link says: the URL of its WebSocket, a token and a session.
type link struct {
	ahp, token, session string
	hostToken           string         // of a host behind a relay, whose token the other one is; "" if the link has none
	seal                *seal.Identity // of a host behind a relay; nil if the link has no key
}

// parseLink parses a link as serve prints it. Its fragment, which holds the token, is never
// sent to a server.
func parseLink(text string) (link, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return link{}, term.Usagef("LINK must be the link that serve prints, as in http://localhost:8080/#tkn=…")
	}
	values, err := url.ParseQuery(u.EscapedFragment())
	if err != nil || values.Get("tkn") == "" {
		return link{}, term.Usagef("the link has no token; give the whole link that serve prints, with the part after the #")
	}
	at := url.URL{Scheme: "ws" + strings.TrimPrefix(u.Scheme, "http"), Host: u.Host, Path: strings.TrimSuffix(u.Path, "/") + "/ahp"}
	l := link{token: values.Get("tkn"), session: cmp.Or(values.Get("session"), host.DefaultSession)}
	if name := values.Get("host"); name != "" { // a host behind a relay
		at = *at.JoinPath(url.PathEscape(name))
		l.hostToken = values.Get("view")
		if l.seal, err = identity(name, values); err != nil {
			return link{}, err
		}
	}
	l.ahp = at.String()
	return l, nil
}

// identity returns what a link says about a host behind a relay; nil if the link has no
// key. A key that is not valid does not count as none: that would lead to a connection that
// the relay can read.
func identity(name string, values url.Values) (*seal.Identity, error) {
	if !values.Has("key") {
		return nil, nil
	}
	key, err := seal.ParsePublicKey(values.Get("key"))
	if err != nil {
		return nil, term.Usagef("the link's key is not complete; give the whole link that serve prints")
	}
	return &seal.Identity{Host: name, Key: key}, nil
}

// resolveLink returns the link that an argument gives: itself, the one on standard input
// ("-"), or that of the target ("").
func resolveLink(env *term.Env, to reach.Target, text string) (_ link, err error) {
	switch text {
	case "":
		h, err := to.Resolve(env)
		if err != nil {
			return link{}, err
		}
		return link{ahp: h.AHP(), token: cmp.Or(h.ViewToken, h.Token), session: cmp.Or(to.Session, host.DefaultSession)}, nil
	case "-":
		if text, err = readLink(env.In); err != nil {
			return link{}, err
		}
	}
	return parseLink(text)
}

// maxLink is how much of standard input is read for a link, in bytes.
const maxLink = 8 << 10

// readLink reads the first line only: a terminal does not end.
func readLink(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxLink)).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		return "", term.Usagef("there is no link on standard input")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("the link: %w", err)
	}
	return line, nil
}

// explain words an error of the connection for a person who was given the link.
func (l link) explain(err error) error {
	u, parseErr := url.Parse(l.ahp)
	if parseErr != nil {
		return fmt.Errorf("view: %w", err)
	}
	at := "http" + strings.TrimPrefix(u.Scheme, "ws") + "://" + u.Host
	_, name, _ := strings.Cut(u.Path, "/ahp/") // of a host behind a relay
	refused, _ := errors.AsType[*ws.HandshakeError](err)
	failed, unreachable := errors.AsType[*net.OpError](err)
	switch {
	case refused != nil && refused.Status == http.StatusUnauthorized:
		return term.Failf(term.CodeLinkRefused, "%s refuses this link's token: it was revoked, has expired, or belongs to another host", at)
	case refused != nil && refused.Status == http.StatusForbidden && name == "":
		return term.Failf(term.CodeLinkRefused, "%s: this link names no host; put it in quotes, because a shell cuts it at the first &", at)
	case refused != nil && refused.Status == http.StatusForbidden:
		return term.Failf(term.CodeLinkRefused, "%s: this link's token is not valid for the host %q", at, name)
	case refused != nil:
		return term.Failf(mcp.CodeUnreachable, "%s is not a canvas host: it responds with %d %s", at, refused.Status, http.StatusText(refused.Status))
	case ws.CodeOf(err) == relay.CodeHostOffline:
		return term.Failf(term.CodeOffline, "the relay %s is running, but the host %q is not connected to it", at, name)
	case ws.CodeOf(err) == ws.CodeSealBroken:
		return term.Failf(term.CodeLinkRefused, "the relay %s is not passing on what the host %q sent, or the host has another key now: nothing was received; ask for the host's newest link", at, name)
	case ws.CodeOf(err) == ws.CodeSealNeeded:
		return term.Failf(term.CodeLinkRefused, "%s: this link has no key, and the host %q accepts sealed connections only; ask for the host's newest link", at, name)
	case unreachable:
		return term.Failf(mcp.CodeUnreachable, "%s cannot be reached: %v", at, failed)
	}
	return fmt.Errorf("%s: %w", at, err)
}
