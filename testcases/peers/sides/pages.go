package sides

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// Body returns n bytes of text with quotes and line ends, or of binary data.
func Body(kind string, n int) []byte {
	piece := []byte("A line of plain text with \"quotes\" in it.\n")
	if kind == "blob" {
		piece = []byte{0xff, 0x00, 0x9d, 0x80}
	}
	return bytes.Repeat(piece, n/len(piece)+1)[:n]
}

// bodies are made in advance, so that no read includes their cost.
var bodies = map[string][]byte{}

func init() {
	for _, kind := range []string{"text", "blob"} {
		for _, size := range []int{1 << 10, 100 << 10, 1 << 20, 10 << 20, 16 << 20} {
			bodies[Path(kind, size)] = Body(kind, size)
		}
	}
}

// Path returns the path of a body.
func Path(kind string, size int) string { return kind + "/" + strconv.Itoa(size) }

func contentType(path string) string {
	if strings.HasPrefix(path, "text") {
		return "text/plain"
	}
	return "application/octet-stream"
}

// pages is a canvas whose content is in memory. A query names another resource
// of the same bytes, so that no cache has it.
type pages struct{}

func (p pages) Open(_ context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
	return canvas.Opened{Instance: p, URL: canvas.ContentURL(req.InstanceID, "")}, nil
}

func (pages) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }
func (pages) Close(context.Context) error                                  { return nil }

func (pages) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	const etag = `"1"`
	if req.ETag == etag {
		return canvas.Content{ETag: etag, NotModified: true}, nil
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(req.Path.String(), "/"), "?")
	body, ok := bodies[path]
	if !ok {
		return canvas.Content{}, ahp.ErrNotFound
	}
	return canvas.Content{Data: body, ContentType: contentType(path), ETag: etag}, nil
}

// httpSide serves the same bodies over plain HTTP. /echo returns the request's
// body.
func httpSide() (*proc.Side, error) {
	addr, srv, err := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/")
		switch {
		case path == "echo":
			b := make([]byte, max(r.ContentLength, 0))
			if _, err := readFull(r.Body, b); err != nil {
				http.Error(w, "short body", http.StatusBadRequest)
				return
			}
			_, _ = w.Write(b)
		case bodies[path] != nil:
			w.Header().Set("Content-Type", contentType(path))
			w.Header().Set("Content-Length", strconv.Itoa(len(bodies[path])))
			_, _ = w.Write(bodies[path])
		case path == "":
			_, _ = w.Write([]byte("<!doctype html><title>App</title>"))
		default:
			http.NotFound(w, r)
		}
	}))
	if err != nil {
		return nil, err
	}
	return &proc.Side{Hello: proc.Response{Addr: "http://" + addr}, Close: func() { _ = srv.Close() }}, nil
}

// encodedBody returns a body as encoded in the result of a read.
func encodedBody(path string) []byte {
	if strings.HasPrefix(path, "text") {
		return ahp.MustMarshal(string(bodies[path]))
	}
	return ahp.MustMarshal(bodies[path])
}

// framesSide responds to a path with its encoded body, as one WebSocket
// message.
func framesSide() (*proc.Side, error) {
	encoded := map[string][]byte{}
	for path := range bodies {
		encoded[path] = encodedBody(path)
	}
	addr, srv, err := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := ws.Upgrade(w, r, ws.Options{})
		if err != nil {
			return
		}
		defer c.Wait()
		defer c.Close(ws.CodeNormal, "")
		for {
			path, err := c.ReadMessage()
			if err != nil || c.WriteBatch([][]byte{encoded[string(path)]}) != nil {
				return
			}
		}
	}))
	if err != nil {
		return nil, err
	}
	return &proc.Side{Hello: proc.Response{Addr: "ws://" + addr}, Close: func() { _ = srv.Close() }}, nil
}

// peak samples the heap for N milliseconds and returns the largest value.
func (o *ours) peak(req proc.Request) (proc.Response, error) {
	var m runtime.MemStats
	var most uint64
	for end := time.Now().Add(time.Duration(req.N) * time.Millisecond); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}
	return proc.Response{Heap: int64(most)}, nil
}
