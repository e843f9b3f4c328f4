package mcpapp

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestResource: a page is one content with its own address and type, as text or as bytes of
// UTF-8. What it declares comes before what the list declares for it.
func TestResource(t *testing.T) {
	const uri = "ui://a/b.html"
	asks := func(domain string) sdk.Meta {
		return sdk.Meta{"ui": map[string]any{"csp": map[string]any{"connectDomains": []any{domain}}}}
	}
	read := func(c sdk.ResourceContents, listed sdk.Meta) (*resource, error) {
		return parseResource(uri, &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, listed)
	}
	for want, c := range map[string]sdk.ResourceContents{
		"":                       {URI: uri, MIMEType: "Text/HTML; profile=mcp-app", Text: "<p>a"},
		"another uri":            {URI: "ui://a/c.html", MIMEType: appMIME, Text: "<p>a"},
		`its type is ""`:         {URI: uri, Text: "<p>a"},
		"its type is":            {URI: uri, MIMEType: "text/html;profile=mcp-app-2", Text: "<p>a"},
		"it is empty":            {URI: uri, MIMEType: appMIME},
		"not UTF-8":              {URI: uri, MIMEType: appMIME, Blob: []byte("a\xff")},
		"at most 16777216 are a": {URI: uri, MIMEType: appMIME, Text: strings.Repeat("x", maxPage+1)},
	} {
		if _, err := read(c, nil); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := parseResource(uri, &sdk.ReadResourceResult{}, nil); err == nil {
		t.Error("no content is a page")
	}
	for _, c := range []struct {
		content, listed sdk.Meta
		want            []string
	}{{asks("https://one.example"), asks("https://two.example"), []string{"https://one.example"}}, {nil, asks("https://two.example"), []string{"https://two.example"}}, {nil, nil, nil}, {sdk.Meta{"ui": 7}, nil, nil}} {
		r, err := read(sdk.ResourceContents{URI: uri, MIMEType: appMIME, Blob: []byte("<p>ä"), Meta: c.content}, c.listed)
		if err != nil || r.html != "<p>ä" || !slices.Equal(r.declared.CSP.Connect, c.want) {
			t.Errorf("%+v, %v, want %q", r, err, c.want)
		}
	}
}

// TestForAgent: an agent reads the content of a result, and the structured content, which is
// for the page, only if there is no other content.
func TestForAgent(t *testing.T) {
	structured := map[string]any{"n": 1.5}
	if got, want := string(forAgent(&sdk.CallToolResult{StructuredContent: structured})), `{"content":[],"structuredContent":{"n":1.5}}`; got != want {
		t.Errorf("without content: %s, want %s", got, want)
	}
	both := &sdk.CallToolResult{StructuredContent: structured, Content: []sdk.Content{&sdk.TextContent{Text: "words"}}, IsError: true}
	if got, want := string(forAgent(both)), `{"content":[{"type":"text","text":"words"}],"isError":true}`; got != want {
		t.Errorf("with content: %s, want %s", got, want)
	}
}
