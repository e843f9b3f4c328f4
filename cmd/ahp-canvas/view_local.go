package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/local"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// link is what a person's link says: where the host is, how it is entered, and
// what is looked at.
type link struct {
	ahp, token, session string
}

// parseLink reads a link as serve prints it: the token is in its fragment, so that
// no server sees it.
func parseLink(text string) (link, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return link{}, &usage{text: "give the link that serve prints, as in http://localhost:8080/#tkn=…"}
	}
	said, err := url.ParseQuery(u.EscapedFragment())
	if err != nil || said.Get("tkn") == "" {
		return link{}, &usage{text: "the link has no token: give it as serve prints it, with what stands after the #"}
	}
	at := url.URL{Scheme: "ws" + strings.TrimPrefix(u.Scheme, "http"), Host: u.Host, Path: "/ahp"}
	if name := said.Get("host"); name != "" { // the link of a host behind a relay
		at = *at.JoinPath(url.PathEscape(name))
	}
	return link{at.String(), said.Get("tkn"), cmp.Or(said.Get("session"), host.DefaultSession)}, nil
}

// linkOf is the link that an argument gives: itself, the one on standard input
// ("-"), or that of the host that other commands drive ("").
func (a *app) linkOf(text string) (to link, err error) {
	switch text {
	case "":
		return a.linkHere()
	case "-":
		if text, err = a.readLink(); err != nil {
			return link{}, err
		}
	}
	return parseLink(text)
}

// maxLink bounds a link that is read, in bytes.
const maxLink = 8 << 10

// readLink reads the first line of standard input: a terminal has no end.
func (a *app) readLink() (string, error) {
	line, err := bufio.NewReader(io.LimitReader(a.in, maxLink)).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		return "", &usage{text: "there is no link on standard input"}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("the link: %w", err)
	}
	return line, nil
}

// linkHere is the link of the host that other commands drive.
func (a *app) linkHere() (link, error) {
	to, err := a.resolve()
	if err != nil {
		return link{}, err
	}
	return link{ahpURL(to.url), cmp.Or(to.view, to.token), cmp.Or(a.to.session, host.DefaultSession)}, nil
}

// viewLocal offers the canvases of a session at urls of this machine until ctx
// ends, which is no failure.
func (a *app) viewLocal(ctx context.Context, text string) error {
	to, err := a.linkOf(text)
	if err != nil {
		return err
	}
	waited := a.progress("Waiting for the host")
	var greeted sync.Once
	var wg sync.WaitGroup
	running, stop := context.WithCancel(ctx)
	door := proof.NewDoor(to.ahp, to.token, nil) // a canvas that is opened later is reached through it too
	err = local.Run(ctx, local.Options{
		Session: to.session,
		Dial: func(ctx context.Context, uris ...string) (*client.Client, error) {
			c, err := client.Dial(ctx, to.ahp, client.Options{Token: to.token, Door: door, Subscriptions: uris, Backoff: client.NewBackoff()})
			waited()
			if err == nil {
				greeted.Do(func() { // by the first one, which follows the session
					a.greetView(c, to.session)
					wg.Go(func() { a.tellLost(running, c) })
				})
			}
			return c, err
		},
		Changed: func(c local.Canvas) {
			if ctx.Err() == nil || a.json {
				a.offered(c)
			}
		},
	})
	stop()
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		if !a.json {
			fmt.Fprintln(a.errs, "\nNothing is offered here any more. What is open at the host stays open.")
		}
		return nil
	case err != nil:
		return to.explain(err)
	}
	return nil
}

func (a *app) greetView(c *client.Client, uri string) {
	if a.json {
		return
	}
	s, ok := c.Session(uri)
	if !ok {
		return // an error says so
	}
	fmt.Fprintln(a.errs, "Open canvases are offered at these addresses of this machine. Ctrl-C ends it.")
	if len(s.OpenCanvases) == 0 {
		fmt.Fprintln(a.errs, "None is open now; one that is opened appears here.")
	}
}

// tellLost says when the host is away and when it is back, until ctx is done.
func (a *app) tellLost(ctx context.Context, c *client.Client) {
	if a.json {
		return
	}
	ticks := time.NewTicker(lookTime)
	defer ticks.Stop()
	for connected := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if now := c.Err() == nil; now != connected {
			connected = now
			fmt.Fprintln(a.errs, lostWords[connected])
		}
	}
}

// explain says what is wrong with a link in words of a person who was given it.
func (l link) explain(err error) error {
	u, parseErr := url.Parse(l.ahp)
	if parseErr != nil {
		return fmt.Errorf("view: %w", err)
	}
	at := "http" + strings.TrimPrefix(u.Scheme, "ws") + "://" + u.Host
	name := strings.TrimPrefix(strings.TrimPrefix(u.Path, "/ahp"), "/") // of a host behind a relay
	refused, _ := errors.AsType[*ws.HandshakeError](err)
	failed, unreachable := errors.AsType[*net.OpError](err)
	switch {
	case refused != nil && refused.Status == http.StatusUnauthorized:
		return failf(codeLinkRefused, "%s does not take this link's token: it was withdrawn, has run out, or is another host's", at)
	case refused != nil && refused.Status == http.StatusForbidden && name == "":
		return failf(codeLinkRefused, "%s: this link names no host: put it into quotes, for a shell ends it at its first &", at)
	case refused != nil && refused.Status == http.StatusForbidden:
		return failf(codeLinkRefused, "%s: this link's token is not good for the host %q", at, name)
	case refused != nil:
		return failf(mcp.CodeUnreachable, "%s: no canvas host answers there, but something that says %d %s", at, refused.Status, http.StatusText(refused.Status))
	case ws.CodeOf(err) == relay.CodeHostOffline:
		return failf(codeOffline, "the relay %s is there, but the host %q is offline", at, name)
	case unreachable:
		return failf(mcp.CodeUnreachable, "%s cannot be reached: %v", at, failed)
	}
	return fmt.Errorf("%s: %w", at, err)
}

// offered prints a canvas that is offered, changed or gone.
func (a *app) offered(c local.Canvas) {
	if a.json {
		_ = printLine(a.out, c) // who reads it went away: the end follows by itself
		return
	}
	state := string(c.Availability)
	switch {
	case c.Closed:
		state = "closed"
	case c.Availability == session.Stale:
		state = "stale: its provider is away"
	}
	fmt.Fprintf(a.out, "%-16s %-40s %s  %s\n", printable(c.InstanceID), printable(cmp.Or(c.URL, "-")), printable(state), printable(c.Title))
}
