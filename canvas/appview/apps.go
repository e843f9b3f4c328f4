package appview

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"regexp"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
)

// CodeViewLost means that the host knows a View no more: its shell attaches again.
const CodeViewLost = "canvas_view_lost"

// The limits of Views.
const (
	// MaxViews is the limit of Views in a host.
	MaxViews = 256
	// MaxViewsOfCanvas is the limit of Views of one canvas.
	MaxViewsOfCanvas = 32
	// MaxKept is the limit of messages that are kept for a View.
	MaxKept = 1024
	// MaxKeptBytes is the limit of their bytes.
	MaxKeptBytes = 1 << 20
	// MaxSay is the limit of messages in one call.
	MaxSay = 16
	// MaxWait is how long a call waits for messages at most.
	MaxWait = 20 * time.Second
	// Lease is how long a View lasts after its last call.
	Lease = 60 * time.Second
	// PartBytes is the limit of a part of a document.
	PartBytes = 256 << 10
	// sayRate and sayBurst limit the messages of a View, a second.
	sayRate, sayBurst = 100, 200
	// linkedAtOnce is how many documents are made at a time.
	linkedAtOnce = 2
)

// ReadFunc reads a file of a canvas by its content path.
type ReadFunc = func(ctx context.Context, path string) (canvas.Content, error)

// Document makes one HTML text of the document at a content path, with a script first in it.
// Its errors are texts for people; onefile.Document is one.
type Document func(ctx context.Context, read ReadFunc, at, first string) (html string, err error)

// Options configures Apps. Attach is required.
type Options struct {
	// Attach attaches a View to a canvas; host.Host has it.
	Attach func(attach.Args) (*attach.View, error)
	// Document makes one text of a canvas's document. If it is nil, every canvas is a card.
	Document Document
	// Key is the key of tickets. If it is empty, it is random, and tickets end with the
	// process.
	Key []byte
	// Link returns a new address at which a person sees a canvas in the page, or "". It is
	// called when a person asks for it. It may be nil.
	Link func(channel string) string
	// Events returns the events of a canvas after a cursor, and the next cursor. With a
	// cursor below 0 it returns only the next one. It may be nil.
	Events func(channel string, after int64) ([]canvas.Event, int64)
}

// Apps are the Views of chats. Make it with [New], end it with [Apps.Close]. Its methods may
// be called concurrently.
type Apps struct {
	opts    Options
	uri     string
	page    string
	linking chan struct{} // holds one value for each document that is being made

	mu     sync.Mutex
	closed bool
	views  map[viewKey]*view
}

// viewKey names a View: another channel's ticket does not reach it.
type viewKey struct{ channel, view string }

// New returns Apps without Views.
func New(opts Options) *Apps {
	if len(opts.Key) == 0 {
		opts.Key = []byte(rand.Text())
	}
	a := &Apps{opts: opts, linking: make(chan struct{}, linkedAtOnce), views: map[viewKey]*view{}}
	a.uri, a.page = shell()
	return a
}

// Page returns the address of the shell as an MCP resource, and its text.
func (a *Apps) Page() (uri, html string) { return a.uri, a.page }

// Ticket returns the ticket of a canvas's channel. Give it to chats where models do not see
// it.
func (a *Apps) Ticket(channel string) string {
	mac := hmac.New(sha256.New, a.opts.Key)
	mac.Write([]byte("ahp-canvas view " + channel))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// errNotFound answers for an absent canvas, a closed one and a wrong ticket alike.
func errNotFound() error {
	return canvas.Errorf(canvas.CodeInstanceNotFound, "no such canvas is open")
}

var viewID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// admit checks what both calls begin with.
func (a *Apps) admit(channel, ticket, id string) error {
	if !hmac.Equal([]byte(ticket), []byte(a.Ticket(channel))) {
		return errNotFound()
	}
	if !viewID.MatchString(id) {
		return &canvas.Error{Code: canvas.CodeInputInvalid, Path: "/view", Rule: "pattern", Message: "want 32 hexadecimal digits"}
	}
	return nil
}

// find returns a View that exists.
func (a *Apps) find(channel, id string) *view {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.views[viewKey{channel, id}]
}

// enter returns a View, and attaches it if it does not exist.
func (a *Apps) enter(channel, id string) (*view, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := viewKey{channel, id}
	if v := a.views[key]; v != nil {
		return v, nil
	}
	of := 0
	for k := range a.views {
		if k.channel == channel {
			of++
		}
	}
	if a.closed || len(a.views) >= MaxViews || of >= MaxViewsOfCanvas {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "this canvas is shown in too many chats: close one of them")
	}
	v := &view{apps: a, key: key, done: make(chan struct{})}
	if err := v.attach(); err != nil {
		if errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}) {
			return nil, errNotFound()
		}
		return nil, err
	}
	v.begin()
	a.views[key] = v
	return v, nil
}

// Views returns how many Views there are.
func (a *Apps) Views() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.views)
}

// Close ends all Views; no further one is attached.
func (a *Apps) Close() {
	a.mu.Lock()
	a.closed = true
	var all []*view
	for _, v := range a.views {
		all = append(all, v)
	}
	a.mu.Unlock()
	for _, v := range all {
		v.end()
	}
}
