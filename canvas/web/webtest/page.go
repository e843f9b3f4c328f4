package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// view is a tab, or a frame in one, as a kind of browser drives it.
type view interface {
	navigate(ctx context.Context, address string) error // until its load event
	reload(ctx context.Context) error
	resize(ctx context.Context, width, height int64) error
	keys(ctx context.Context, keys string) error
	click(ctx context.Context, selector string) error
	mouse(ctx context.Context, way ...point) error                                // presses at the first, goes along, lets go at the last
	screenshot(ctx context.Context) ([]byte, error)                               // PNG
	eval(ctx context.Context, expression string) ([]byte, error)                  // JSON; nil where it is undefined
	frames(ctx context.Context, n int, match func(*url.URL) bool) ([]view, error) // nil while there are fewer than n
	close()
}

// point is a place in the window, in CSS pixels.
type point struct{ x, y float64 }

// Page is a tab, or a frame in one.
type Page struct{ view view }

func patience() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), Patience)
}

func (p *Page) do(t testing.TB, what string, step func(context.Context) error) {
	t.Helper()
	ctx, cancel := patience()
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

// Reload loads the page again.
func (p *Page) Reload(t testing.TB) {
	t.Helper()
	p.do(t, "reload", p.view.reload)
}

// Resize sets the size of the window in CSS pixels.
func (p *Page) Resize(t testing.TB, width, height int64) {
	t.Helper()
	p.do(t, "resize", func(ctx context.Context) error { return p.view.resize(ctx, width, height) })
}

// Keys types on the focused element; see package chromedp/kb for special keys.
func (p *Page) Keys(t testing.TB, keys string) {
	t.Helper()
	p.do(t, "type", func(ctx context.Context) error { return p.view.keys(ctx, keys) })
}

// Click presses the mouse on the first element of a CSS selector.
func (p *Page) Click(t testing.TB, selector string) {
	t.Helper()
	p.do(t, "click", func(ctx context.Context) error { return p.view.click(ctx, selector) })
}

// ClickAt presses the mouse at a point of the window, in CSS pixels, and lets it
// go there: also in a frame within a frame.
func (p *Page) ClickAt(t testing.TB, x, y float64) {
	t.Helper()
	p.do(t, "click", func(ctx context.Context) error { return p.view.mouse(ctx, point{x, y}) })
}

// Drag presses the mouse at a point of the window, moves it to another in two
// steps, and lets go there.
func (p *Page) Drag(t testing.TB, fromX, fromY, toX, toY float64) {
	t.Helper()
	way := []point{{fromX, fromY}, {(fromX + toX) / 2, (fromY + toY) / 2}, {toX, toY}}
	p.do(t, "drag", func(ctx context.Context) error { return p.view.mouse(ctx, way...) })
}

// Screenshot returns what is visible, as PNG.
func (p *Page) Screenshot(t testing.TB) (png []byte) {
	t.Helper()
	p.do(t, "screenshot", func(ctx context.Context) (err error) { png, err = p.view.screenshot(ctx); return err })
	return png
}

// Eval evaluates a JavaScript expression, a promise included. It runs outside
// of the page's Content-Security-Policy: what a policy stops must be tried by
// code of the page.
func Eval[T any](t testing.TB, p *Page, expression string) T {
	t.Helper()
	v, err := eval[T](p, expression)
	if err != nil {
		t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

func eval[T any](p *Page, expression string) (v T, err error) {
	ctx, cancel := patience()
	defer cancel()
	raw, err := p.view.eval(ctx, expression)
	if err != nil {
		return v, err
	}
	if raw == nil {
		raw = []byte("null") // it is undefined
	}
	if string(raw) == "null" && !nullable[T]() {
		return v, errors.New("it has no value")
	}
	return v, json.Unmarshal(raw, &v)
}

// nullable reports whether nothing is a value of a type.
func nullable[T any]() bool {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Interface, reflect.Map, reflect.Slice, reflect.Pointer:
		return true
	}
	return false
}

// pollMillis is how often a page is asked, in milliseconds.
const pollMillis = "25"

// Wait waits until an expression is true in the page.
func (p *Page) Wait(t testing.TB, expression string) {
	t.Helper()
	if err := p.wait(expression, Patience-5*time.Second); err != nil {
		body, _ := eval[string](p, "document.body ? document.body.innerText : ''")
		t.Fatalf("wait for %s: %v\nthe page says:\n%s", expression, err, body)
	}
}

// WaitAtMost is Wait for something that need not happen; it says whether it did.
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

// Frames returns the frames of other sites in the tab that a url matches; n is
// how many to wait for.
func (p *Page) Frames(t testing.TB, n int, match func(*url.URL) bool) []*Page {
	t.Helper()
	ctx, cancel := patience()
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
		// The page is asked for nothing: this is only a wait that ends with it.
		if _, err := eval[bool](p, "new Promise((r) => setTimeout(() => r(true), "+pollMillis+"))"); err != nil {
			t.Fatalf("frames: %v", err)
		}
		if ctx.Err() != nil {
			t.Fatalf("there are no %d such frames", n)
		}
	}
}

// At matches frames of a web origin.
func At(origin string) func(*url.URL) bool {
	return func(u *url.URL) bool { return u.Scheme+"://"+u.Host == origin }
}

// ContentFrame matches the outer frames of mounted canvases.
func ContentFrame(u *url.URL) bool {
	return strings.HasPrefix(u.Host, "c-") && u.Path == "/.ahp/frame.html"
}
