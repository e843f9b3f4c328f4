package gateway

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// Instance is an open canvas whose provider is reachable.
type Instance struct {
	// State is the state of its channel.
	State canvas.CanvasState
	// App is the provider's instance if it answers HTTP itself; nil otherwise.
	App canvas.WebApp
	// Life ends when the canvas becomes stale and when it is closed.
	Life context.Context
}

// Options configures a Gateway. Instance, Exists, Read and Connect are required, and one of
// Base and Host.
type Options struct {
	// Instance returns the open canvas of a channel. ok is false while it is stale.
	Instance func(channel string) (in Instance, ok bool)
	// Exists reports whether a channel is that of an open canvas, which can be stale.
	Exists func(channel string) bool
	// Read reads a resource of a canvas. It returns ahp.ErrNotFound if there is none.
	Read func(ctx context.Context, channel string, req canvas.ReadRequest) (canvas.Content, error)
	// Connect makes a View of a canvas: a client that is subscribed to its channel, with
	// the rights of a person.
	Connect func(ctx context.Context, channel string) (*client.Client, error)
	// Base returns the scheme of addresses and what follows the first label of their host,
	// such as "http" and ".localhost:8080". ok is false if the host has no such names.
	Base func() (scheme, suffix string, ok bool)
	// Host is the host and port of all addresses, as in 127.0.0.1:8080, for a gateway of one
	// canvas. Its address stays the same while the canvas is open, also while it is stale.
	// Names below localhost are not needed then. Base is not called.
	Host string
	// Allowed returns the origins that the operator allows the canvas of a channel besides
	// its own. Nil allows none.
	Allowed func(channel string) allow.List
	// Files serves a file below /.ahp/ of the page's frames, with the page's headers, and
	// reports whether there is one of that name. Nil serves none.
	Files Files
	// Logger receives failures without addresses; nil discards them.
	Logger *slog.Logger
}

// Gateway gives open canvases addresses and serves them. Make it with [New] and end it with
// Close. It is safe for concurrent use.
type Gateway struct {
	opts    Options
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	serving sync.WaitGroup // requests, and the goroutines of connections
	reads   chan struct{}  // holds one value for each read in progress

	mu       sync.Mutex
	closed   bool
	channels map[string]*channel
	single   *place            // of a gateway with Options.Host
	labels   map[string]*place // by label, also of canvases that are gone
	order    []string          // of labels, oldest first
}

// The gateway's limits.
const (
	maxLabels   = 8192 // labels that are remembered
	maxBrowsers = 64   // labels of browsers for one canvas; the oldest gives way
	maxRequests = 256  // of one canvas at a time
	maxReads    = 32   // of all canvases at a time
)

// New returns a Gateway.
func New(opts Options) *Gateway {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{opts: opts, channels: map[string]*channel{}, labels: map[string]*place{}, reads: make(chan struct{}, maxReads)}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// Close ends all requests and waits for them. The gateway gives no address afterwards.
func (g *Gateway) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel()
	g.serving.Wait()
}

// ErrUnreachable is an error of Options.Read: the content is somewhere else, and that place
// is not reachable now.
var ErrUnreachable = errors.New("the canvas is not reachable")

// Errors of Page. Their texts are for people and name no address.
var (
	// ErrNoAddress means that the canvas is stale or closed, that its content is elsewhere,
	// or that the host has no names for canvases.
	ErrNoAddress = errors.New("this canvas has no separate address at the moment")
	// ErrLabel means that the label is invalid, or that of another canvas.
	ErrLabel = errors.New("the label is not 32 lower-case hex digits, or another canvas has it")
)

// Address returns the http or https URL at which a client can show an open canvas, or "" if
// there is none. All clients that ask while the provider is reachable get the same one. A
// URL of the provider that is not content of the canvas is returned unchanged.
func (g *Gateway) Address(uri string) string {
	in, ok := g.opts.Instance(uri)
	if !ok || in.State.URL == nil {
		return ""
	}
	path, ok := contentPath(*in.State.URL)
	if !ok {
		if s := ahp.SchemeOf(*in.State.URL); s == "http" || s == "https" {
			return *in.State.URL
		}
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.channel(uri, in.Life)
	switch {
	case c == nil:
		return ""
	case g.opts.Host != "":
		return g.only(c).url(path)
	}
	if c.own == nil || g.labels[c.own.label] != c.own {
		c.own = g.add(&place{label: randomLabel(), channel: c})
		if c.own == nil || g.labels[c.own.label] != c.own {
			return ""
		}
	}
	return c.own.url(path)
}

// Page returns the URL of an open canvas for a page that shows it in its frames. The
// origin has the label, 32 lower-case hex digits that the browser derives for this canvas,
// and is the same each time; the secret is not. The URL's path is that of the frame.
func (g *Gateway) Page(uri, label string) (string, error) {
	if !isLabel(label) {
		return "", ErrLabel
	}
	in, ok := g.opts.Instance(uri)
	if !ok || in.State.URL == nil || g.opts.Files == nil {
		return "", ErrNoAddress
	}
	if _, ok := contentPath(*in.State.URL); !ok {
		return "", ErrNoAddress
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.channel(uri, in.Life)
	if c == nil {
		return "", ErrNoAddress
	}
	p := g.labels[label]
	switch {
	case p == nil:
		p = g.add(&place{label: label, channel: c, framed: true, lasting: true})
	case p.channel.uri != uri || !p.framed:
		return "", ErrLabel
	default:
		p = g.renew(p, c)
	}
	if p == nil {
		return "", ErrNoAddress
	}
	return p.url(framePath), nil
}

// framePath is the path of the page's outer frame.
const framePath = "/.ahp/frame.html"

// Origin returns the origin of an address, for policies that must name it; "" if the text
// is no URL.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// contentPath returns path and query of a content address, beginning with a slash.
func contentPath(uri string) (string, bool) {
	if ahp.SchemeOf(uri) != ahp.SchemeContent {
		return "", false
	}
	_, path, err := canvas.ParseContentURI(uri)
	if err != nil {
		return "", false
	}
	return "/" + strings.TrimPrefix(path.String(), "/"), true
}

// secret returns 32 random bytes as base64url.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func randomLabel() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

func isLabel(s string) bool {
	return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == ""
}
