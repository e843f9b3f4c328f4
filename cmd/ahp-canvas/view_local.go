package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/local"
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
	if !a.json {
		fmt.Fprintln(a.errs, "Open canvases are offered at these addresses of this machine. Ctrl-C ends it.")
	}
	err = local.Run(ctx, local.Options{
		Session: to.session,
		Dial: func(ctx context.Context, uris ...string) (*client.Client, error) {
			return client.Dial(ctx, to.ahp, client.Options{Token: to.token, Subscriptions: uris, Backoff: client.NewBackoff()})
		},
		Changed: a.offered,
	})
	if _, given := errors.AsType[*client.GivenUp](err); given || err != nil {
		return unlessEnded(ctx, fmt.Errorf("view: %w", err))
	}
	return nil
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
