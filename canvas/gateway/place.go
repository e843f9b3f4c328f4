package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/standalone"
)

// channel is one opening of a canvas: from the time its provider is reachable until the
// canvas is stale or closed.
type channel struct {
	uri      string
	life     context.Context
	requests chan struct{} // holds one value for each request
	views    standalone.Views
	link     link // http/1, for providers that are no canvas.WebApp

	// Guarded by Gateway.mu.
	own      *place   // of Address
	browsers []*place // of pages, oldest first
}

// place is an origin of a canvas. It is replaced, and not changed, when the canvas is opened
// again.
type place struct {
	label   string
	channel *channel
	framed  bool // the frames of our page show it
	lasting bool // the address outlives the opening

	scheme, host string
	secret       string // of ~t
	cookie       string // the cookies' value
}

// origin returns the web origin of a place.
func (p *place) origin() string { return p.scheme + "://" + p.host }

// url returns the address of a path, which can have a query, with the secret.
func (p *place) url(path string) string {
	path, fragment, _ := strings.Cut(path, "#")
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	return p.origin() + path + join + secretParam + "=" + p.secret + fragment
}

// opens reports whether a text is the place's secret, or the value of its cookie.
func same(got, want string) bool { return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1 }

// cookieOf returns the cookies' value for a secret, so that neither shows the other.
func cookieOf(secret string) string {
	sum := sha256.Sum256([]byte("ahp-canvas gateway cookie " + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// channel returns the current opening of a canvas, and begins it. It is nil once the gateway
// is closed. g.mu is held.
func (g *Gateway) channel(uri string, life context.Context) *channel {
	if g.closed || life.Err() != nil {
		return nil
	}
	c := g.channels[uri]
	if c != nil && c.life == life {
		return c
	}
	c = &channel{uri: uri, life: life, requests: make(chan struct{}, maxRequests)}
	c.views.Channel = uri
	c.views.Dial = func(ctx context.Context) (*client.Client, error) { return g.opts.Connect(ctx, uri) }
	g.channels[uri] = c
	context.AfterFunc(life, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.channels[uri] == c {
			delete(g.channels, uri)
		}
	})
	return c
}

// add makes a place reachable. It returns nil if the host has no names for canvases. g.mu
// is held.
func (g *Gateway) add(p *place) *place {
	scheme, suffix, ok := g.opts.Base()
	if !ok {
		return nil
	}
	if p.framed {
		c := p.channel
		if c.browsers = append(c.browsers, p); len(c.browsers) > maxBrowsers {
			if old := c.browsers[0]; g.labels[old.label] == old {
				delete(g.labels, old.label)
			}
			c.browsers = c.browsers[1:]
		}
	}
	p.scheme, p.host = scheme, "g-"+p.label+suffix
	p.secret = secret()
	p.cookie = cookieOf(p.secret)
	if g.labels[p.label] == nil {
		g.order = append(g.order, p.label)
	}
	g.labels[p.label] = p
	for len(g.order) > maxLabels {
		delete(g.labels, g.order[0])
		g.order = g.order[1:]
	}
	return p
}

// only returns the place of a gateway that has one address. g.mu is held.
func (g *Gateway) only(c *channel) *place {
	next := place{scheme: "http", host: g.opts.Host, secret: secret(), lasting: true}
	if g.single != nil {
		next = *g.single
	}
	next.channel, next.cookie = c, cookieOf(next.secret)
	g.single = &next
	return g.single
}

// renew returns the place of a label for another page of the same browser. Pages that show
// it already keep their cookie while the canvas stays open. g.mu is held.
func (g *Gateway) renew(old *place, c *channel) *place {
	if old.channel == c {
		return old
	}
	return g.add(&place{label: old.label, channel: c, framed: true, lasting: true})
}

// find returns the place of a request's Host, which is nil if there is none. ours is false
// if the name is none of the gateway's.
func (g *Gateway) find(host string) (p *place, ours bool) {
	if g.opts.Host != "" {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.single, host == g.opts.Host
	}
	label, ok := labelOf(host)
	if !ok {
		return nil, false
	}
	g.mu.Lock()
	p = g.labels[label]
	g.mu.Unlock()
	if p != nil && p.host == host {
		return p, true
	}
	_, suffix, ok := g.opts.Base()
	return nil, ok && host == "g-"+label+suffix
}

// labelOf returns the label of a host name of the form g-<32 hex digits>.suffix.
func labelOf(host string) (string, bool) {
	first, _, ok := strings.Cut(host, ".")
	label, is := strings.CutPrefix(first, "g-")
	return label, ok && is && isLabel(label)
}

// Serves reports whether a Host header names a canvas of the gateway, now or earlier. Every
// other name is the page's or unknown.
func (g *Gateway) Serves(host string) bool {
	_, ours := g.find(strings.ToLower(host))
	return ours
}
