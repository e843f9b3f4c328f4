package canvas

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Func is a function as a Provider. It usually returns an [App].
type Func func(ctx context.Context, req OpenRequest, h *Handle) (Opened, error)

// Open calls f.
func (f Func) Open(ctx context.Context, req OpenRequest, h *Handle) (Opened, error) {
	return f(ctx, req, h)
}

// App is an Instance made of functions; each can be nil. Fields must not change after
// the App was returned from Open.
type App struct {
	// Actions runs declared actions, by name.
	Actions map[string]func(ctx context.Context, input ahp.Value) (ahp.Value, error)
	// Files is the content; a directory is served as its index.html.
	Files fs.FS
	// OnMessage receives the messages of Views; see [Messenger].
	OnMessage func(ctx context.Context, from View, payload ahp.Value)
	// OnViewGone is called when a View disconnects; see [Messenger].
	OnViewGone func(from View)
	// OnClose is called when the instance ends.
	OnClose func(ctx context.Context) error
}

// Invoke runs an action. Without a function for it, the error is [CodeNoHandler].
func (a *App) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	fn := a.Actions[action]
	if fn == nil {
		return nil, Errorf(CodeNoHandler, "nothing handles action %q", action)
	}
	return fn(ctx, input)
}

// Close calls OnClose.
func (a *App) Close(ctx context.Context) error {
	if a.OnClose == nil {
		return nil
	}
	return a.OnClose(ctx)
}

// Message calls OnMessage.
func (a *App) Message(ctx context.Context, from View, payload ahp.Value) {
	if a.OnMessage != nil {
		a.OnMessage(ctx, from, payload)
	}
}

// ViewGone calls OnViewGone.
func (a *App) ViewGone(from View) {
	if a.OnViewGone != nil {
		a.OnViewGone(from)
	}
}

// Read serves Files.
func (a *App) Read(_ context.Context, req ReadRequest) (Content, error) {
	if a.Files == nil {
		return Content{}, ahp.ErrNotFound
	}
	return ReadFile(a.Files, req)
}

// ReadFile serves a content read from a file system: a path that ends in a slash gets
// the index.html below it. The validator is a hash of the content, because embedded
// files have no modification time. For files on disk, use canvas/provider/folder.
func ReadFile(fsys fs.FS, req ReadRequest) (Content, error) {
	at := req.Path
	if at.Dir {
		at = ContentPath{Segments: append(append([]string{}, at.Segments...), "index.html")}
	}
	data, err := fs.ReadFile(fsys, at.Name())
	if err != nil {
		return Content{}, err
	}
	sum := sha256.Sum256(data)
	etag := base64.RawURLEncoding.EncodeToString(sum[:12])
	if req.ETag == etag {
		return Content{NotModified: true}, nil
	}
	return Content{Data: data, ContentType: ContentType(at), ETag: etag}, nil
}
