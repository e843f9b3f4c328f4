package canvas

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"runtime"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Func is a function as a Provider. It usually returns an [App]. [New] is simpler if a
// canvas needs no control over the answer to an open.
type Func func(ctx context.Context, req OpenRequest, h *Handle) (Opened, error)

// Open calls f.
func (f Func) Open(ctx context.Context, req OpenRequest, h *Handle) (Opened, error) {
	return f(ctx, req, h)
}

// App is an Instance made of functions, each of which may be nil. It is a [Messenger] and
// a [Reader] too. Fields must not change after Open has returned the App.
type App struct {
	// Actions has the functions of declared actions, by name.
	Actions map[string]func(ctx context.Context, input ahp.Value) (ahp.Value, error)
	// Files is the content. A path that ends in a slash is its index.html.
	Files fs.FS
	// OnMessage receives the messages of Views, one at a time.
	OnMessage func(ctx context.Context, from View, payload ahp.Value)
	// OnViewGone is called when the connection or subscription of a View has ended.
	OnViewGone func(from View)
	// OnClose is called once, when the instance ends.
	OnClose func(ctx context.Context) error
}

// Invoke runs an action. If it has no function, the error is [CodeNoHandler].
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

// ReadFile answers a content read from a file system; a path that ends in a slash is its
// index.html. The ETag is a hash of the content, because embedded files have no time. For
// files on a disk, canvas/provider/folder is more efficient.
func ReadFile(fsys fs.FS, req ReadRequest) (Content, error) {
	at := req.Path
	if at.Dir {
		at = ContentPath{Segments: append(append([]string{}, at.Segments...), "index.html")}
	}
	data, err := fs.ReadFile(fsys, at.Name())
	if err != nil {
		return Content{}, err
	}
	etag := HashETag(data)
	if req.ETag == etag {
		return Content{NotModified: true}, nil
	}
	return Content{Data: data, ContentType: ContentType(at), ETag: etag}, nil
}

// HashETag returns a validator for content that has no other: a hash of the data. Other
// goroutines run between pieces of it: Go cannot interrupt the assembly that hashes.
func HashETag(data []byte) string {
	h := sha256.New()
	for piece := range slices.Chunk(data, hashPiece) {
		h.Write(piece)
		runtime.Gosched()
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// hashPiece is how many bytes are hashed at a time.
const hashPiece = 64 << 10
