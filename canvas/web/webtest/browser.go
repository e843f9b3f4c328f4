package webtest

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
)

// Patience bounds every wait for a page. It is long because CI machines are
// slow; a wait that succeeds does not use it.
const Patience = 30 * time.Second

// Browser is one Chromium.
type Browser struct{ ctx context.Context }

// Start returns a browser, of the length of the test or, under [Main], of the
// package. more are further flags, without dashes, as in
// "proxy-server=http://127.0.0.1:1": browsers with other flags are other ones.
func Start(t testing.TB, more ...string) *Browser {
	t.Helper()
	exe := find(t)
	if !shared.on {
		ctx, stop, err := launch(exe, t.TempDir(), more)
		t.Cleanup(stop)
		if err != nil {
			t.Fatalf("start Chromium: %v", err)
		}
		return &Browser{ctx}
	}
	b, err := shared.start(exe, more)
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return b
}

// find looks for a Chromium, or ends the test.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no Chromium on this machine: the browser tests cannot run")
	}
	t.Skip("no Chromium on this machine: browser tests are skipped")
	return ""
}

// launch starts a browser with a profile in a folder. stop ends it.
func launch(exe, profile string, more []string) (ctx context.Context, stop func(), err error) {
	flags := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(exe), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun,
		chromedp.UserDataDir(profile), chromedp.WindowSize(1280, 860),
	}
	for _, name := range append([]string{
		"disable-gpu", "disable-quic", "disable-background-networking", "disable-component-update",
		"disable-sync", "disable-dev-shm-usage", "disable-backgrounding-occluded-windows",
		"disable-renderer-backgrounding", "disable-background-timer-throttling",
	}, more...) {
		if name, value, ok := strings.Cut(name, "="); ok {
			flags = append(flags, chromedp.Flag(name, value))
			continue
		}
		flags = append(flags, chromedp.Flag(name, true))
	}
	ctx, free := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, closeTab := chromedp.NewContext(ctx)
	stop = func() { closeTab(); free() }
	return ctx, stop, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

// Page is a tab, or a frame of another site in one.
type Page struct {
	ctx   context.Context
	close context.CancelFunc
}

// Close closes the tab.
func (p *Page) Close() { p.close() }

// Open opens a url in a tab with cookies and storage of its own.
func (b *Browser) Open(t testing.TB, address string) *Page {
	t.Helper()
	p := b.tab(t)
	p.Navigate(t, address)
	return p
}

// Try opens a url of which it does not matter whether it loads.
func (b *Browser) Try(t testing.TB, address string) {
	t.Helper()
	p := b.tab(t)
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	_ = chromedp.Do(ctx, chromedp.Navigate(address))
}

func (b *Browser) tab(t testing.TB) *Page {
	t.Helper()
	ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	return attached(t, ctx, stop)
}

// Navigate loads a url and waits for its load event.
func (p *Page) Navigate(t testing.TB, address string) {
	t.Helper()
	p.do(t, "navigate", chromedp.Navigate(address))
}

// Reload loads the page again.
func (p *Page) Reload(t testing.TB) {
	t.Helper()
	p.do(t, "reload", chromedp.Reload())
}

// Resize sets the size of the window in CSS pixels.
func (p *Page) Resize(t testing.TB, width, height int64) {
	t.Helper()
	p.do(t, "resize", chromedp.EmulateViewport(width, height))
}

// Keys types on the focused element; see package chromedp/kb for special keys.
func (p *Page) Keys(t testing.TB, keys string) {
	t.Helper()
	p.do(t, "type", chromedp.KeyEvent(keys))
}

// Click presses the mouse on the first element of a CSS selector.
func (p *Page) Click(t testing.TB, selector string) {
	t.Helper()
	p.do(t, "click", chromedp.Click(chromedp.CSS(selector)))
}

// Drag presses the mouse at a point of the window, moves it to another in two
// steps, and lets go there.
func (p *Page) Drag(t testing.TB, fromX, fromY, toX, toY float64) {
	t.Helper()
	at := func(kind input.DispatchMouseEventType, x, y float64) chromedp.Action[chromedp.Void] {
		return chromedp.MouseEvent(kind, x, y, chromedp.ButtonLeft)
	}
	p.do(t, "press", at(input.DispatchMouseEventTypeMousePressed, fromX, fromY))
	p.do(t, "move", at(input.DispatchMouseEventTypeMouseMoved, (fromX+toX)/2, (fromY+toY)/2))
	p.do(t, "move", at(input.DispatchMouseEventTypeMouseMoved, toX, toY))
	p.do(t, "let go", at(input.DispatchMouseEventTypeMouseReleased, toX, toY))
}

// Screenshot returns what is visible, as PNG.
func (p *Page) Screenshot(t testing.TB) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatalf("screenshot: %v", err)
	}
	return png
}

// StopWorkers ends the service workers of the page's site, as a browser may at
// any time.
func (p *Page) StopWorkers(t testing.TB) {
	t.Helper()
	p.do(t, "stop workers", chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		if _, err := cdp.Call(ctx, to, serviceworker.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, to, serviceworker.StopAllWorkers, cdp.Empty{})
		return err
	}))
}

// Unwatched stops the browser from reporting the page's traffic, of which every
// WebSocket frame is otherwise sent to the test too: for measurements.
func (p *Page) Unwatched(t testing.TB) {
	t.Helper()
	p.do(t, "watch no traffic", chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, network.Disable, cdp.Empty{})
		return err
	}))
}

func (p *Page) do(t testing.TB, what string, step chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, step); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
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

func eval[T any](p *Page, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, func(e *runtime.EvaluateParams) {
		yes := true
		e.AwaitPromise = &yes
	}))
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
