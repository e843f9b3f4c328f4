package check

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// inProcess lists schemes that only a client provider's own process resolves.
var inProcess = []string{"vscode-webview", "tauri-app"}

// maxURL bounds a url, in bytes.
const maxURL = 8 << 10

// URL decides whether the host publishes a CanvasState.url (canvas/PROTOCOL.md section
// 6); renderers check it again. Its errors name the scheme, never the URL.
func (l *Limits) URL(instanceID, raw string, source session.CanvasProviderSource) error {
	scheme := strings.ToLower(ahp.SchemeOf(raw))
	if len(raw) > maxURL {
		return fmt.Errorf("the url has %d bytes, at most %d are allowed", len(raw), maxURL)
	}
	if !utf8.ValidString(raw) {
		return fmt.Errorf("the url is not valid UTF-8")
	}
	if scheme == ahp.SchemeContent {
		id, _, err := canvas.ParseContentURI(raw)
		if err != nil {
			return fmt.Errorf("the url is no content address: %w", err)
		}
		if id != instanceID {
			return fmt.Errorf("the url is the content address of another instance")
		}
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil || scheme == "" {
		return fmt.Errorf("the url is not an absolute URL")
	}
	switch {
	case slices.Contains(l.AllowSchemes, scheme):
		return nil
	case slices.Contains(inProcess, scheme) && source.Kind == session.SourceClient:
		return nil
	case scheme == "https", scheme == "http":
		return webURL(u)
	}
	return fmt.Errorf("urls with the scheme %q are not allowed here", scheme)
}

// webURL allows https anywhere and http on this machine. A page's content policy cannot
// name [::1], so that address is not allowed.
func webURL(u *url.URL) error {
	switch {
	case u.User != nil:
		return fmt.Errorf("the url carries a user name or password")
	case u.Hostname() == "":
		return fmt.Errorf("the url names no host")
	case strings.EqualFold(u.Scheme, "http") && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1":
		return fmt.Errorf("http is allowed for localhost and 127.0.0.1 only")
	}
	return nil
}
