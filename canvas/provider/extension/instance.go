package extension

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// page serves an extension's page over the channel: a *loopback.App.
type page interface {
	URL() string
	canvas.Reader
	canvas.Messenger
	Close()
}

// pageMaker creates a page for a URL. The page calls unreachable when its server
// refuses a connection.
type pageMaker func(raw string, h *canvas.Handle, unreachable func(error)) (page, error)

// instance is an open canvas of a process.
type instance struct {
	process *process
	target  target
	handle  *canvas.Handle

	mu       sync.Mutex
	raw      string // the URL that the extension returned
	page     page   // nil if browsers load raw directly
	released bool   // the instance is closed, or its process is lost
}

// currentOf returns the instance that req reopens, or nil.
func currentOf(req canvas.OpenRequest) *instance {
	i, _ := req.Current.(*instance)
	return i
}

// showPage turns the extension's response into the result of Open. If the URL did not
// change, the instance keeps its page.
func (i *instance) showPage(answer openResult) (canvas.Opened, error) {
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
		if err := w.ext.runner.opts.checkOwner(i.handle.Context(), i.process.child.Group, answer.URL); err != nil {
			return canvas.Opened{}, canvas.Errorf(canvas.CodeHandlerError, "cannot show the extension's page: %v", err)
		}
		if p, err = w.ext.runner.opts.newPage(answer.URL, i.handle, func(error) { w.unreachable(i) }); err != nil {
			return canvas.Opened{}, canvas.Errorf(canvas.CodeHandlerError, "cannot show the page %q of the extension's canvas: %v", answer.URL, err)
		}
		i.replace(answer.URL, p)
	}
	opened.URL, opened.HTTP, opened.Sockets, opened.Links = p.URL(), true, true, true
	return opened, nil
}

// replace sets the instance's page, which can be nil, and closes the previous one.
func (i *instance) replace(raw string, p page) {
	i.mu.Lock()
	before := i.page
	i.raw, i.page = raw, p
	released := i.released
	if released {
		i.page = nil
	}
	i.mu.Unlock()
	if before != nil {
		before.Close()
	}
	if released && p != nil {
		p.Close()
	}
}

// release closes the page after the instance was closed or its process was lost.
func (i *instance) release() {
	i.mu.Lock()
	i.released = true
	i.mu.Unlock()
	i.replace("", nil)
}

// isLoopback reports whether raw is an http URL of a server on this machine. The host
// serves such a page over the channel; browsers load any other URL directly.
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
	value, err := i.process.call(ctx, "canvas.action.invoke", invokeParams{i.target, action, input, hostCapabilities, i.process.context()}, nil)
	if err != nil || value.Kind() == 'n' {
		return nil, err
	}
	return value, nil
}

// Close sends canvas.close to the extension and closes the page.
func (i *instance) Close(ctx context.Context) error {
	w := i.process.worker
	w.ext.runner.mu.Lock()
	if id := i.target.InstanceID; w.open[id] == i {
		delete(w.open, id)
		w.stopIfIdleLocked()
	}
	w.ext.runner.mu.Unlock()
	_, err := i.process.call(ctx, "canvas.close", i.process.closing(i.target), nil)
	i.release()
	return err
}

// errNoPage is the result of requests to the page of a closed or lost instance.
var errNoPage = canvas.Errorf(canvas.CodeProviderUnavailable, "the extension's process is not running")

// current returns the current page and whether the instance was released.
func (i *instance) current() (p page, released bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.page, i.released
}

// Read reads from the page's server.
func (i *instance) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	switch p, released := i.current(); {
	case p != nil:
		return p.Read(ctx, req)
	case released:
		return canvas.Content{}, errNoPage
	}
	return canvas.Content{}, ahp.ErrNotFound // browsers load the URL directly
}

// Message passes a View's message to the page.
func (i *instance) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	if p, _ := i.current(); p != nil {
		p.Message(ctx, from, payload)
	}
}

// ViewGone cancels a View's pending requests to the page.
func (i *instance) ViewGone(from canvas.View) {
	if p, _ := i.current(); p != nil {
		p.ViewGone(from)
	}
}

// ServeApp passes a request to the page's server.
func (i *instance) ServeApp(w http.ResponseWriter, r *http.Request) {
	p, _ := i.current()
	if app, ok := p.(canvas.WebApp); ok {
		app.ServeApp(w, r)
		return
	}
	http.Error(w, errNoPage.Message, http.StatusServiceUnavailable)
}

// newPage returns a pageMaker that serves pages over the channel or, if Direct is set,
// publishes their own URLs.
func newPage(o Options) pageMaker {
	return func(raw string, h *canvas.Handle, unreachable func(error)) (page, error) {
		return loopback.NewApp(raw, h, loopback.Options{Direct: o.Direct, Dial: o.Dial, Unreachable: unreachable, Trace: o.Trace, Logger: o.Logger})
	}
}
