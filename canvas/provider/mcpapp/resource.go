package mcpapp

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// resource is a UI resource: the page of a tool.
type resource struct {
	html     string
	declared declaredUI
}

// page returns the UI resource of a URI, which is kept until the server's list changes.
func (c *conn) page(ctx context.Context, uri string) (*resource, error) {
	c.mu.Lock()
	kept, listed := c.pages[uri], c.metas[uri]
	c.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	got, err := call(ctx, c, c.running.runner.opts.CallTime, func(ctx context.Context) (*sdk.ReadResourceResult, error) {
		return c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	})
	if err != nil {
		return nil, err
	}
	r, err := parseResource(uri, got, listed)
	if err != nil {
		return nil, canvas.Errorf(canvas.CodeHandlerError, "the page of this canvas cannot be shown: %v", err)
	}
	c.running.noteDeclared(uri, r.declared)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages[uri] = r
	return r, nil
}

// parseResource checks a UI resource: one content with its uri and MIME type, of at most
// 16 MiB. _meta of the content comes before that of the listing.
func parseResource(uri string, got *sdk.ReadResourceResult, listed sdk.Meta) (*resource, error) {
	if len(got.Contents) != 1 {
		return nil, fmt.Errorf("its resource has %d contents, want one", len(got.Contents))
	}
	content := got.Contents[0]
	kind, params, err := mime.ParseMediaType(content.MIMEType)
	text := content.Text
	if text == "" {
		text = string(content.Blob)
	}
	switch {
	case content.URI != uri:
		return nil, errors.New("its resource has another uri")
	case err != nil || kind != "text/html" || params["profile"] != "mcp-app":
		return nil, fmt.Errorf("its type is %q, want %q", ahp.Line(content.MIMEType, 80), appMIME)
	case len(text) > maxPage:
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", len(text), maxPage)
	case text == "" || !utf8.ValidString(text):
		return nil, errors.New("it is empty or not UTF-8")
	}
	r := &resource{html: text}
	meta := content.Meta["ui"]
	if meta == nil {
		meta = listed["ui"]
	}
	if raw, err := ahp.Marshal(meta); err == nil && meta != nil {
		_ = ahp.Unmarshal(raw, &r.declared) // a malformed declaration asks for nothing
	}
	return r, nil
}

// noteDeclared writes what a UI asks for to the server's log.
func (g *Running) noteDeclared(uri string, d declaredUI) {
	raw, err := ahp.Marshal(d)
	if err == nil {
		g.log.Note("page %s asks for %s", ahp.Line(uri, 200), ahp.Line(string(raw), 1000))
	}
}
