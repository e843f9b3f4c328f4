package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// view is a tab or a frame, as implemented for each kind of browser.
type view interface {
	navigate(ctx context.Context, address string) error // waits for the load event
	reload(ctx context.Context) error
	resize(ctx context.Context, width, height int64) error
	keys(ctx context.Context, keys string) error
	click(ctx context.Context, selector string) error
	mouse(ctx context.Context, way ...point) error                                // presses at the first point, releases at the last
	screenshot(ctx context.Context) ([]byte, error)                               // PNG
	eval(ctx context.Context, expression string) ([]byte, error)                  // JSON; nil for undefined
	frames(ctx context.Context, n int, match func(*url.URL) bool) ([]view, error) // nil if there are fewer than n
	close()
}

// point is a point of the window in CSS pixels.
type point struct{ x, y float64 }

// Page is a tab, or a frame in one.
type Page struct{ view view }

func timeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), Timeout)
}

func (p *Page) do(t testing.TB, what string, step func(context.Context) error) {
	t.Helper()
	ctx, cancel := timeout()
	defer cancel()
	if err := step(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Close closes the tab.
func (p *Page) Close() { p.view.close() }

// Navigate loads a url and waits for its load event.
func (p *Page) Navigate(t testing.TB, address string) {
	t.Helper()
	p.do(t, "navigate", func(ctx context.Context) error { return p.view.navigate(ctx, address) })
}

// Tab opens a url in another tab with the same cookies and storage. It needs Chromium.
func (p *Page) Tab(t testing.TB, address string) *Page {
	t.Helper()
	v, ok := p.view.(*chromiumView)
	if !ok {
		t.Skip("only Chromium opens a second tab here")
	}
	tab, err := v.tab()
	if err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	t.Cleanup(tab.close)
	second := &Page{tab}
	second.Navigate(t, address)
	return second
}

// Reload reloads the page.
func (p *Page) Reload(t testing.TB) {
	t.Helper()
	p.do(t, "reload", p.view.reload)
}

// Resize sets the size of the window in CSS pixels.
func (p *Page) Resize(t testing.TB, width, height int64) {
	t.Helper()
	p.do(t, "resize", func(ctx context.Context) error { return p.view.resize(ctx, width, height) })
}

// Keys types on the focused element; package chromedp/kb has the special keys.
func (p *Page) Keys(t testing.TB, keys string) {
	t.Helper()
	p.do(t, "type", func(ctx context.Context) error { return p.view.keys(ctx, keys) })
}

// Click clicks the first element that matches a CSS selector.
func (p *Page) Click(t testing.TB, selector string) {
	t.Helper()
	p.do(t, "click", func(ctx context.Context) error { return p.view.click(ctx, selector) })
}

// ClickAt clicks at a point of the window in CSS pixels, also within nested frames.
func (p *Page) ClickAt(t testing.TB, x, y float64) {
	t.Helper()
	p.do(t, "click", func(ctx context.Context) error { return p.view.mouse(ctx, point{x, y}) })
}

// Drag presses the mouse at a point of the window, moves it to another in two steps,
// and releases it.
func (p *Page) Drag(t testing.TB, fromX, fromY, toX, toY float64) {
	t.Helper()
	way := []point{{fromX, fromY}, {(fromX + toX) / 2, (fromY + toY) / 2}, {toX, toY}}
	p.do(t, "drag", func(ctx context.Context) error { return p.view.mouse(ctx, way...) })
}

// Screenshot returns the visible part of the page as PNG.
func (p *Page) Screenshot(t testing.TB) (png []byte) {
	t.Helper()
	p.do(t, "screenshot", func(ctx context.Context) (err error) { png, err = p.view.screenshot(ctx); return err })
	return png
}

// Eval evaluates a JavaScript expression and awaits a promise. The page's
// Content-Security-Policy does not apply to it: to test a policy, run code of the page.
func Eval[T any](t testing.TB, p *Page, expression string) T {
	t.Helper()
	v, err := eval[T](p, expression)
	if err != nil {
		t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

func eval[T any](p *Page, expression string) (v T, err error) {
	ctx, cancel := timeout()
	defer cancel()
	raw, err := p.view.eval(ctx, expression)
	if err != nil {
		return v, err
	}
	if raw == nil {
		raw = []byte("null") // undefined
	}
	if string(raw) == "null" && !nullable[T]() {
		return v, errors.New("the expression has no value")
	}
	return v, json.Unmarshal(raw, &v)
}

// nullable reports whether null is a value of T.
func nullable[T any]() bool {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Interface, reflect.Map, reflect.Slice, reflect.Pointer:
		return true
	}
	return false
}

// pollMillis is the interval between checks of a condition, in milliseconds.
const pollMillis = "25"

// Wait waits until an expression is true in the page.
func (p *Page) Wait(t testing.TB, expression string) {
	t.Helper()
	if err := p.wait(expression, Timeout-5*time.Second); err != nil {
		body, _ := eval[string](p, "document.body ? document.body.innerText : ''")
		t.Fatalf("wait for %s: %v\nthe page says:\n%s", expression, err, body)
	}
}

// WaitAtMost waits for an expression that need not become true, and reports whether it
// did.
func (p *Page) WaitAtMost(patience time.Duration, expression string) bool {
	return p.wait(expression, patience) == nil
}

func (p *Page) wait(expression string, patience time.Duration) error {
	_, err := eval[bool](p, `new Promise((yes, no) => {
		const end = performance.now() + `+strconv.FormatInt(patience.Milliseconds(), 10)+`;
		const ask = () => {
			let ok = false;
			try { ok = Boolean(`+expression+`) } catch {}
			if (ok) yes(true); else if (performance.now() > end) no(new Error("never true")); else setTimeout(ask, `+pollMillis+`);
		};
		ask();
	})`)
	return err
}

// Frames waits until at least n frames of other sites match, and returns the matching
// ones.
func (p *Page) Frames(t testing.TB, n int, match func(*url.URL) bool) []*Page {
	t.Helper()
	ctx, cancel := timeout()
	defer cancel()
	for {
		views, err := p.view.frames(ctx, n, match)
		if err != nil {
			t.Fatalf("frames: %v", err)
		}
		if len(views) >= n {
			var pages []*Page
			for _, v := range views {
				t.Cleanup(v.close)
				pages = append(pages, &Page{v})
			}
			return pages
		}
		// Wait in the page, so that the wait ends with it.
		if _, err := eval[bool](p, "new Promise((r) => setTimeout(() => r(true), "+pollMillis+"))"); err != nil {
			t.Fatalf("frames: %v", err)
		}
		if ctx.Err() != nil {
			t.Fatalf("fewer than %d frames match", n)
		}
	}
}

// At matches frames of a web origin.
func At(origin string) func(*url.URL) bool {
	return func(u *url.URL) bool { return u.Scheme+"://"+u.Host == origin }
}

var contentHost = regexp.MustCompile(`^(c|g|n[0-9a-f]{16})-[0-9a-f]{32}\.`)

// IsContentHost reports whether a host name is that of a mounted canvas.
func IsContentHost(host string) bool { return contentHost.MatchString(host) }

// ContentFrame matches the outer frames of mounted canvases.
func ContentFrame(u *url.URL) bool {
	return IsContentHost(u.Host) && u.Path == "/.ahp/frame.html"
}
