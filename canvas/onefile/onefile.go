package onefile

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// The limits of a document.
const (
	// MaxBytes is the limit of the result, and of all files that it is made of.
	MaxBytes = 4 << 20
	// MaxFiles is the limit of the files that a document needs.
	MaxFiles = 256
	// MaxTime is how long linking may take.
	MaxTime = 10 * time.Second
)

// Error says to a person why a document cannot be one text.
type Error struct {
	// Reason is a clause that continues "This canvas cannot be shown here: ".
	Reason string
}

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

func errorf(format string, args ...any) *Error { return &Error{fmt.Sprintf(format, args...)} }

// Read returns a file of a canvas by its content path, with the query if it has one.
type Read = func(ctx context.Context, path string) (canvas.Content, error)

// Document returns the document at a content path as one text, with the script first before
// everything else.
func Document(ctx context.Context, read Read, at, first string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, MaxTime, errorf("linking it took more than %v", MaxTime))
	defer cancel()
	d := &document{ctx: ctx, read: read, at: at, kept: map[string]canvas.Content{}}
	text, err := d.make(first)
	if why := context.Cause(ctx); err != nil && why != nil {
		return "", why
	}
	return text, err
}

// document is one document while it is made.
type document struct {
	ctx  context.Context
	read Read
	at   string // its content path

	imports map[string]string // of its import map
	modules []module          // its module elements, in order

	mu    sync.Mutex // the linker reads concurrently
	kept  map[string]canvas.Content
	files int
	bytes int
	fatal error // a limit
}

func (d *document) make(first string) (string, error) {
	c, err := d.file(d.at)
	if err != nil {
		return "", err
	}
	if kind, _, _ := mime.ParseMediaType(c.ContentType); kind != "text/html" && kind != "application/xhtml+xml" {
		return "", errorf("it is not an HTML page")
	}
	root, err := html.Parse(strings.NewReader(strings.ToValidUTF8(string(c.Data), "\uFFFD")))
	if err != nil {
		return "", errorf("its HTML cannot be read: %v", err)
	}
	if err := d.inline(root); err != nil {
		return "", err
	}
	head := find(root, atom.Head) // the parser has made one
	head.InsertBefore(element(atom.Script, first), head.FirstChild)
	var b strings.Builder
	if err := html.Render(&b, root); err != nil {
		return "", errorf("its HTML cannot be written: %v", err)
	}
	if b.Len() > MaxBytes {
		return "", errorf("the page has %d KiB, a chat takes %d", b.Len()>>10, MaxBytes>>10)
	}
	return b.String(), nil
}

// file reads a file, once.
func (d *document) file(at string) (canvas.Content, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.kept[at]; ok || d.fatal != nil {
		return c, d.fatal
	}
	if d.files++; d.files > MaxFiles {
		d.fatal = errorf("the page needs more than %d files, which is what a chat takes", MaxFiles)
		return canvas.Content{}, d.fatal
	}
	c, err := d.read(d.ctx, at)
	if err != nil {
		return c, err
	}
	if d.bytes += len(c.Data); d.bytes > MaxBytes {
		d.fatal = errorf("the page and its files have more than %d KiB, which is what a chat takes", MaxBytes>>10)
		return canvas.Content{}, d.fatal
	}
	d.kept[at] = c
	return c, nil
}

// optional is file for what a browser does without. It returns only errors that end the
// document.
func (d *document) optional(at string) (c canvas.Content, ok bool, err error) {
	c, err = d.file(at)
	if err == nil {
		return c, true, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return c, false, errors.Join(d.fatal, context.Cause(d.ctx))
}

// origin stands for the canvas's origin while addresses are resolved.
const origin = "http://canvas"

// resolve returns the content path that a reference means, or "" if it is not one of the
// canvas.
func resolve(ref, from string) string {
	base, err := url.Parse(origin + from)
	if err != nil {
		return ""
	}
	u, err := base.Parse(strings.TrimSpace(ref))
	if err != nil || u.Scheme != "http" || u.Host != "canvas" || u.User != nil {
		return ""
	}
	u.Fragment = ""
	return strings.TrimPrefix(u.String(), origin)
}

// contentType returns the type of a file, without parameters.
func contentType(c canvas.Content, at string) string {
	kind, _, err := mime.ParseMediaType(c.ContentType)
	if err == nil {
		return kind
	}
	kind, _, _ = mime.ParseMediaType(mime.TypeByExtension(path.Ext(at)))
	return kind
}
