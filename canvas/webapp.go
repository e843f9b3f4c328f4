package canvas

import (
	"context"
	"net/http"
)

// WebApp is an Instance that answers http/1 messages (Opened.HTTP) and plain HTTP as well.
// A host that serves each canvas under a separate address (package gateway) passes
// requests to it without a detour over messages. Without it, such a host sends http/1.
type WebApp interface {
	// ServeApp answers a request of the canvas's page, also one that upgrades to a
	// WebSocket. It is called concurrently. The request's cookies are those of the page, without
	// the host's; its context ends with the instance and with the page.
	//
	// The host filters the response's headers and adds its own policies.
	ServeApp(w http.ResponseWriter, r *http.Request)
}

// WithBrowser returns a context for ServeApp that names the browser of a request, so that an
// app can keep the cookies of browsers apart.
func WithBrowser(ctx context.Context, browser string) context.Context {
	return context.WithValue(ctx, browserKey{}, browser)
}

// BrowserOf returns the browser of a request, "" if it is not known.
func BrowserOf(ctx context.Context) string {
	browser, _ := ctx.Value(browserKey{}).(string)
	return browser
}

// browserKey is the key of WithBrowser.
type browserKey struct{}
