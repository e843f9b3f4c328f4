package loopback

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Jars are the cookie jars of one instance: one for each browser, so that a login in one is
// none in another, or a shared one. It is safe for concurrent use.
type Jars struct {
	shared *jar // nil if each browser has its own

	mu     sync.Mutex
	jars   map[string]*jar // by browser
	recent []string        // browsers, the one used longest ago first
	views  map[canvas.View]string
}

// maxBrowsers limits the jars of an instance. The one that was used longest ago gives way.
const maxBrowsers = 64

// NewJars returns empty jars. With shared, all browsers have one jar.
func NewJars(shared bool) *Jars {
	js := &Jars{jars: map[string]*jar{}, views: map[canvas.View]string{}}
	if shared {
		js.shared = newJar()
	}
	return js
}

// of returns the jar of a browser. No browser, as in a read of content, has the shared jar,
// or nil.
func (js *Jars) of(browser string) *jar {
	if js.shared != nil || browser == "" {
		return js.shared
	}
	js.mu.Lock()
	defer js.mu.Unlock()
	j := js.jars[browser]
	for i, b := range js.recent {
		if b == browser {
			js.recent = append(js.recent[:i], js.recent[i+1:]...)
			break
		}
	}
	js.recent = append(js.recent, browser)
	if j == nil {
		j = newJar()
		js.jars[browser] = j
	}
	if len(js.recent) > maxBrowsers {
		delete(js.jars, js.recent[0])
		js.recent = js.recent[1:]
	}
	return j
}

// introduce takes a View's message that names its browser, and reports whether it is one
// (canvas/bridge/PROTOCOL.md section 6).
func (js *Jars) introduce(from canvas.View, payload ahp.Value) bool {
	if len(payload) > 256 || !bytes.Contains(payload, []byte(`"browser"`)) {
		return false
	}
	var m struct {
		Tag     string    `json:"x-ahp"`
		Type    string    `json:"type"`
		Browser string    `json:"browser"`
		Extra   ahp.Value `json:",embed"`
	}
	if ahp.Unmarshal(payload, &m) != nil || m.Tag != "http/1" || m.Type != "browser" {
		return false
	}
	if len(m.Browser) == 32 && strings.Trim(m.Browser, "0123456789abcdef") == "" {
		js.mu.Lock()
		defer js.mu.Unlock()
		js.views[from] = "b-" + m.Browser
	}
	return true
}

// browser returns what a View said, or its client id: each is a separate browser.
func (js *Jars) browser(from canvas.View) string {
	js.mu.Lock()
	defer js.mu.Unlock()
	if b := js.views[from]; b != "" {
		return b
	}
	return "c-" + from.ClientID
}

func (js *Jars) forget(from canvas.View) {
	js.mu.Lock()
	defer js.mu.Unlock()
	delete(js.views, from)
}

// browserOf returns the browser of a request: the gateway's, or a View's.
func browserOf(ctx context.Context) string {
	if b := canvas.BrowserOf(ctx); b != "" {
		return "b-" + b
	}
	b, _ := ctx.Value(browserKey{}).(string)
	return b
}

// browserKey is the key of a View's browser in a context.
type browserKey struct{}

// context is the context of a View's requests.
func (js *Jars) context(from canvas.View) context.Context {
	return context.WithValue(context.Background(), browserKey{}, js.browser(from))
}

// jarFor returns the jar of a View's WebSockets.
func (js *Jars) jarFor(from canvas.View) http.CookieJar { return js.of(js.browser(from)) }
