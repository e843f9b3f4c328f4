package extension

import (
	"context"
	"log/slog"
	"net/url"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// page is what carries an extension's page over the channel: *loopback.App.
type page interface {
	URL() string
	canvas.Reader
	canvas.Messenger
	Close()
}

// pageMaker makes the way to a page. unreachable is called when its server
// refuses a connection.
type pageMaker func(raw string, h *canvas.Handle, unreachable func(error)) (page, error)

// instance is a canvas that a process has open.
type instance struct {
	process *process
	target  target
	handle  *canvas.Handle

	mu   sync.Mutex
	raw  string // the page's own url
	page page   // nil where there is none to carry
	left bool   // closed, or its process is lost
}

// currentOf is the instance that is open already, or nil.
func currentOf(req canvas.OpenRequest) *instance {
	i, _ := req.Current.(*instance)
	return i
}

// show puts the answer of an open before people. A page whose url did not change
// stays as it is.
func (i *instance) show(answer openResult) (canvas.Opened, error) {
	opened := canvas.Opened{Instance: i, URL: answer.URL, Title: answer.Title, Status: answer.Status}
	if !isLoopback(answer.URL) {
		i.replace(answer.URL, nil)
		return opened, nil
	}
	i.mu.Lock()
	p, same := i.page, i.raw == answer.URL
	i.mu.Unlock()
	if p == nil || !same {
		var err error
		w := i.process.worker
		if p, err = w.ext.runner.opts.newPage(answer.URL, i.handle, func(error) { w.unreachable(i) }); err != nil {
			return canvas.Opened{}, canvas.Errorf(canvas.CodeHandlerError, "the page of the extension's canvas cannot be shown: %v", err)
		}
		i.replace(answer.URL, p)
	}
	opened.URL, opened.HTTP, opened.Links = p.URL(), true, true
	return opened, nil
}

// replace gives the instance another page, or none.
func (i *instance) replace(raw string, p page) {
	i.mu.Lock()
	before := i.page
	i.raw, i.page = raw, p
	left := i.left
	if left {
		i.page = nil
	}
	i.mu.Unlock()
	if before != nil {
		before.Close()
	}
	if left && p != nil {
		p.Close()
	}
}

// leave lets the page go: the instance is closed, or its process is lost.
func (i *instance) leave() {
	i.mu.Lock()
	i.left = true
	i.mu.Unlock()
	i.replace("", nil)
}

// isLoopback reports whether a url is of a server on this machine, so that the
// host carries it; any other a browser may load itself.
func isLoopback(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" {
		return false
	}
	switch u.Hostname() {
	case "127.0.0.1", "localhost", "::1":
		return true
	}
	return false
}

// Invoke runs an action in the extension.
func (i *instance) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	value, err := i.process.call(ctx, "canvas.action.invoke", invokeParams{i.target, action, input, shows, i.process.context()}, nil)
	if err != nil || value.Kind() == 'n' {
		return nil, err
	}
	return value, nil
}

// Close tells the extension, and lets the page go.
func (i *instance) Close(ctx context.Context) error {
	w := i.process.worker
	w.ext.runner.mu.Lock()
	if id := i.target.InstanceID; w.open[id] == i {
		delete(w.open, id)
		w.rest()
	}
	w.ext.runner.mu.Unlock()
	_, err := i.process.call(ctx, "canvas.close", i.process.closing(i.target), nil)
	i.leave()
	return err
}

// errNoPage is what a page's requests end with once it is gone.
var errNoPage = canvas.Errorf(canvas.CodeProviderUnavailable, "the extension's process is not there now")

func (i *instance) carried() (p page, left bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.page, i.left
}

// Read reads from the page's own server.
func (i *instance) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	switch p, left := i.carried(); {
	case p != nil:
		return p.Read(ctx, req)
	case left:
		return canvas.Content{}, errNoPage
	}
	return canvas.Content{}, ahp.ErrNotFound // a browser may load its url itself
}

// Message carries what a View asks of the page's server.
func (i *instance) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	if p, _ := i.carried(); p != nil {
		p.Message(ctx, from, payload)
	}
}

// ViewGone ends what a View asked.
func (i *instance) ViewGone(from canvas.View) {
	if p, _ := i.carried(); p != nil {
		p.ViewGone(from)
	}
}

// newPage carries pages over the channel, or hands out their own urls.
func newPage(direct bool, logger *slog.Logger) pageMaker {
	return func(raw string, h *canvas.Handle, unreachable func(error)) (page, error) {
		return loopback.NewApp(raw, h, loopback.Options{Direct: direct, Unreachable: unreachable, Logger: logger})
	}
}
