package mcpapp

import (
	"context"
	"embed"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
)

//go:embed page
var pageFiles embed.FS

// maxViewCalls is the limit of pending requests of one View.
const maxViewCalls = 32

// web serves the pages of one instance by http/1 and as content.
type web struct {
	handler http.Handler
	bridge  *bridge.Server
	ending  sync.Once
}

func newWeb(handler http.Handler, h *canvas.Handle, logger *slog.Logger) *web {
	w := &web{handler: handler}
	var err error
	w.bridge, err = bridge.NewServer(bridge.Options{
		Origin: "http://app.invalid", RoundTripper: roundTripper(w.roundTrip), Requests: maxViewCalls, Logger: logger,
		Send: func(to canvas.View, payload ahp.Value) error { return h.PostEncoded(h.Context(), to, payload) },
	})
	if err != nil {
		panic(err) // the options are constants
	}
	return w
}

// close ends all requests and waits for them.
func (w *web) close() { w.ending.Do(w.bridge.Close) }

// roundTrip answers a request by the handler, in a goroutine that ends when the handler
// does. The handler ends when the request's context does.
func (w *web) roundTrip(req *http.Request) (*http.Response, error) {
	body, out := io.Pipe()
	a := &answering{header: http.Header{}, body: out, head: make(chan struct{})}
	go func() {
		if req.Body == nil {
			req.Body = http.NoBody
		}
		w.handler.ServeHTTP(a, req)
		a.WriteHeader(http.StatusOK)
		_ = out.Close()
		_ = req.Body.Close()
	}()
	stop := context.AfterFunc(req.Context(), func() { _ = out.CloseWithError(req.Context().Err()) })
	select {
	case <-a.head:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: closing{body, stop}, ContentLength: -1, Request: req,
	}, nil
}

// closing is a response's body.
type closing struct {
	*io.PipeReader
	stop func() bool
}

func (c closing) Close() error { c.stop(); return c.PipeReader.Close() }

// answering is the ResponseWriter of roundTrip.
type answering struct {
	header, sent http.Header
	body         *io.PipeWriter
	status       int
	head         chan struct{} // closed when status and sent are set
	once         sync.Once
}

func (a *answering) Header() http.Header { return a.header }

func (a *answering) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.head)
	})
}

func (a *answering) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush sends the head.
func (a *answering) Flush() { a.WriteHeader(http.StatusOK) }

// read answers a content read by the handler.
func (w *web) read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://app.invalid"+req.Path.String(), nil)
	if err != nil {
		return canvas.Content{}, fs.ErrNotExist
	}
	resp, err := w.roundTrip(r)
	if err != nil {
		return canvas.Content{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return canvas.Content{}, fs.ErrNotExist
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+maxResult))
	if err != nil {
		return canvas.Content{}, err
	}
	c := canvas.Content{Data: data, ContentType: resp.Header.Get("Content-Type"), ETag: canvas.HashETag(data)}
	if c.ETag == req.ETag {
		return canvas.Content{ETag: c.ETag, NotModified: true}, nil
	}
	return c, nil
}

// serveFile answers with an embedded file.
func serveFile(w http.ResponseWriter, name, contentType string) {
	data, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		http.Error(w, "This canvas has no such file.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(data)
}
