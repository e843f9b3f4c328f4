package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestFailedReadsAreLoggedWithoutPaths: the path that a client reads is in no log, also if
// the provider's error has it as a file or an address.
func TestFailedReadsAreLoggedWithoutPaths(t *testing.T) {
	var log bytes.Buffer
	h, f, _ := newFake(t, engine.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	o, err := open(h, "one", "")
	ok(t, err)
	v := h.Connect("person")
	v.Subscribe(o.Channel)
	for _, failure := range []error{
		&fs.PathError{Op: "read", Path: "/home/secret.txt", Err: errors.New("bad sector")},
		fmt.Errorf("while reading: %w", &os.LinkError{Op: "rename", Old: "secret.txt", New: "x", Err: errors.New("bad sector")}),
		&url.Error{Op: "Get", URL: "http://127.0.0.1:3000/secret.txt", Err: errors.New("bad sector")},
		&url.Error{Op: "Get", URL: "file:///secret.txt", Err: &fs.PathError{Op: "open", Path: "secret.txt", Err: io.ErrUnexpectedEOF}},
	} {
		log.Reset()
		f.read = func(context.Context, canvas.ReadRequest) (canvas.Content, error) { return canvas.Content{}, failure }
		_, _, _, err := h.Canvases.Content.StreamResource(t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: o.Channel, URI: canvas.ContentURL("one", "/secret.txt")})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: the reader gets %v", failure, err)
		}
		if got := log.String(); !strings.Contains(got, "content not read") || strings.Contains(got, "secret") {
			t.Errorf("%v: the log has %s", failure, got)
		}
	}
}
