package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"regexp"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// chromium returns the path of the browser.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", errors.New("chromium is not installed")
}

// newBrowser starts a headless Chromium that ends with its context.
func newBrowser(ctx context.Context, exe string, more ...chromedp.ExecAllocatorOption) (context.Context, func(), error) {
	flags := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(exe), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.WindowSize(1280, 860),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true),
	}
	allocator, free := chromedp.NewExecAllocator(ctx, append(flags, more...)...)
	b, end := chromedp.NewContext(allocator)
	stop := func() { end(); free() }
	if err := chromedp.Do(b, chromedp.Navigate("about:blank")); err != nil {
		stop()
		return nil, nil, err
	}
	return b, stop, nil
}

// tab is a tab with its own cookies and storage. The app is in it, or in a frame of it.
type tab struct {
	ctx    context.Context
	close  func()
	canvas bool // the app is in the frame of a canvas

	frame    context.Context // of the app; ctx if it is no canvas
	frameURL string

	mu      sync.Mutex
	dialogs int
}

// newTab opens a tab. The first dialogs of each are accepted, as a person would.
func newTab(browser context.Context, canvas bool) (*tab, error) {
	ctx, stop := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t := &tab{ctx: ctx, close: stop, canvas: canvas}
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, err
	}
	err := chromedp.Listen(ctx, func(ev any) {
		if _, ok := ev.(*page.EventJavascriptDialogOpening); !ok {
			return
		}
		t.mu.Lock()
		t.dialogs++
		t.mu.Unlock()
		go func() { // a listener may not wait for the browser
			_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	})
	if err != nil {
		stop()
		return nil, err
	}
	return t, nil
}

const stepTime = 20 * time.Second

func (t *tab) do(in context.Context, actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(in, stepTime)
	defer cancel()
	for _, a := range actions {
		if err := chromedp.Do(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// evaluate returns the value of an expression in a tab or a frame.
func evaluate[T any](in context.Context, expression string) (v T, err error) {
	ctx, cancel := context.WithTimeout(in, stepTime)
	defer cancel()
	raw, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise, chromedp.EvalAsValue))
	if err != nil || raw == nil {
		return v, err
	}
	return v, json.Unmarshal(raw, &v)
}

// call runs a function of survey.js, or of the same form, in the app's frame.
func call[T any](t *tab, function string, args ...any) (v T, err error) {
	text, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		return v, err
	}
	return evaluate[T](t.frame, fmt.Sprintf("(async () => {%s\nreturn await (%s)(...%s) })()", script, function, text))
}

var contentHost = regexp.MustCompile(`^(c|g|n[0-9a-f]{16})-[0-9a-f]{32}\.`)

// find waits for the app's frame, and attaches it.
func (t *tab) find() error {
	if !t.canvas {
		t.frame = t.ctx
		return nil
	}
	mine := chromedp.FromContext(t.ctx).BrowserContextID
	for end := time.Now().Add(stepTime); time.Now().Before(end); {
		infos, err := chromedp.Targets(t.ctx)
		if err != nil {
			return err
		}
		if id, at := frameOf(infos, mine); id != "" {
			ctx, _ := chromedp.NewContext(t.ctx, chromedp.WithTargetID(id)) // ends with the tab
			t.frame, t.frameURL = ctx, at
			return chromedp.Do(ctx)
		}
		if _, err := evaluate[any](t.ctx, "new Promise((r) => setTimeout(r, 100))"); err != nil {
			return err
		}
	}
	said, _ := evaluate[string](t.ctx, "document.body.innerText.slice(0, 300)")
	return fmt.Errorf("the page shows no canvas: %q", said)
}

// frameOf returns the canvas's frame in a tab.
func frameOf(infos []*target.Info, tab cdp.BrowserContextID) (target.ID, string) {
	for _, i := range infos {
		u, err := url.Parse(i.URL)
		if err == nil && i.Type == "iframe" && i.BrowserContextID == tab && contentHost.MatchString(u.Host) {
			return i.TargetID, u.Scheme + "://" + u.Host
		}
	}
	return "", ""
}

// point is a point of the window in CSS pixels.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// place returns where a point of the app is in the window.
func (t *tab) place(p point) (point, error) {
	if !t.canvas {
		return p, nil
	}
	at, err := evaluate[point](t.ctx, fmt.Sprintf(`(() => {
		const f = [...document.querySelectorAll("iframe")].find((f) => f.src.startsWith(%q)) ?? document.querySelector("iframe");
		const { x, y } = f.getBoundingClientRect();
		return { x, y };
	})()`, t.frameURL))
	return point{p.X + at.X, p.Y + at.Y}, err
}

// unshielded waits until the page has taken the shield of the canvas away from under the
// mouse.
const unshielded = `new Promise((done) => {
	let n = 0;
	const ask = () => document.elementFromPoint(%f, %f)?.matches(".shield") && n++ < 40 ? setTimeout(ask, 25) : setTimeout(done, 100);
	ask();
}).then(() => 0)`

// press presses at points of the app: a click at one, a drag between several.
func (t *tab) press(way ...point) error {
	var err error
	for i := range way {
		if way[i], err = t.place(way[i]); err != nil {
			return err
		}
	}
	first, last := way[0], way[len(way)-1]
	if err := t.do(t.ctx, chromedp.MouseEvent("mouseMoved", first.X, first.Y)); err != nil {
		return err
	}
	if t.canvas {
		if _, err := evaluate[any](t.ctx, fmt.Sprintf(unshielded, first.X, first.Y)); err != nil {
			return err
		}
	}
	steps := []chromedp.Action[chromedp.Void]{chromedp.MouseEvent("mousePressed", first.X, first.Y, chromedp.ButtonLeft, clicks)}
	for _, p := range way[1:] {
		steps = append(steps, chromedp.MouseEvent("mouseMoved", (first.X+p.X)/2, (first.Y+p.Y)/2, chromedp.ButtonLeft), chromedp.MouseEvent("mouseMoved", p.X, p.Y, chromedp.ButtonLeft))
	}
	steps = append(steps, chromedp.MouseEvent("mouseReleased", last.X, last.Y, chromedp.ButtonLeft, clicks))
	return t.do(t.ctx, steps...)
}
