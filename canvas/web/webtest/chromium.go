package webtest

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// chromium is a Chromium, controlled by the DevTools protocol.
type chromium struct {
	ctx  context.Context
	stop func()
}

// launchChromium starts a headless Chromium.
func launchChromium(exe, profile string, more []string) (engine, error) {
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
	c := &chromium{ctx, func() { closeTab(); free() }}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *chromium) ended() bool { return c.ctx.Err() != nil }

func (c *chromium) close() { c.stop() }

// open opens a tab with its own cookies and storage.
func (c *chromium) open() (view, error) {
	ctx, stop := chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext())
	return attached(ctx, stop)
}

// chromiumView is a tab, or a frame of another site in a tab.
type chromiumView struct {
	ctx  context.Context
	stop context.CancelFunc
}

// attached opens the tab now; otherwise the first step would, and its context would end
// the tab.
func attached(ctx context.Context, stop context.CancelFunc) (view, error) {
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, err
	}
	return &chromiumView{ctx, stop}, nil
}

func (v *chromiumView) close() { v.stop() }

// in returns a context of the tab with the deadline of ctx.
func (v *chromiumView) in(ctx context.Context) (context.Context, context.CancelFunc) {
	end, _ := ctx.Deadline()
	return context.WithDeadline(v.ctx, end)
}

func (v *chromiumView) do(ctx context.Context, steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := v.in(ctx)
	defer cancel()
	for _, step := range steps {
		if err := chromedp.Do(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

func (v *chromiumView) navigate(ctx context.Context, address string) error {
	return v.do(ctx, chromedp.Navigate(address))
}

func (v *chromiumView) reload(ctx context.Context) error { return v.do(ctx, chromedp.Reload()) }

func (v *chromiumView) resize(ctx context.Context, width, height int64) error {
	return v.do(ctx, chromedp.EmulateViewport(width, height))
}

func (v *chromiumView) keys(ctx context.Context, keys string) error {
	return v.do(ctx, chromedp.KeyEvent(keys))
}

func (v *chromiumView) click(ctx context.Context, selector string) error {
	return v.do(ctx, chromedp.Click(chromedp.CSS(selector)))
}

// unshielded waits for a point that is not on the shield of a canvas, at most a second, and
// then until that is drawn: the browser's process, which decides where a press goes, learns it
// with the next frame.
const unshielded = `new Promise((done) => {
	let n = 0;
	const drawn = () => {
		requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
		setTimeout(done, 500); // a hidden page is not drawn
	};
	const ask = () => document.elementFromPoint(%f, %f)?.matches(".shield") && n++ < 40 ? setTimeout(ask, 25) : drawn();
	ask();
}).then(() => 0)`

func (v *chromiumView) mouse(ctx context.Context, way ...point) error {
	var steps []chromedp.Action[chromedp.Void]
	step := func(kind input.DispatchMouseEventType, at point) {
		steps = append(steps, chromedp.MouseEvent(kind, at.x, at.y, chromedp.ButtonLeft))
	}
	// As a person's mouse, under which the page takes the shield of a canvas away.
	if err := v.do(ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, way[0].x, way[0].y)); err != nil {
		return err
	}
	if _, err := v.eval(ctx, fmt.Sprintf(unshielded, way[0].x, way[0].y)); err != nil {
		return err
	}
	if len(way) == 1 {
		return v.do(ctx, chromedp.MouseClickXY(way[0].x, way[0].y))
	}
	step(input.DispatchMouseEventTypeMousePressed, way[0])
	for _, at := range way[1:] {
		step(input.DispatchMouseEventTypeMouseMoved, at)
	}
	step(input.DispatchMouseEventTypeMouseReleased, way[len(way)-1])
	return v.do(ctx, steps...)
}

func (v *chromiumView) screenshot(ctx context.Context) ([]byte, error) {
	ctx, cancel := v.in(ctx)
	defer cancel()
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

func (v *chromiumView) eval(ctx context.Context, expression string) ([]byte, error) {
	ctx, cancel := v.in(ctx)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise, chromedp.EvalAsValue))
}

// frames returns frames of other sites.
func (v *chromiumView) frames(ctx context.Context, n int, match func(*url.URL) bool) ([]view, error) {
	ctx, cancel := v.in(ctx)
	defer cancel()
	ids, err := v.matching(ctx, match)
	if err != nil || len(ids) < n {
		return nil, err
	}
	var views []view
	for _, id := range ids {
		frame, err := attached(chromedp.NewContext(v.ctx, chromedp.WithTargetID(id)))
		if err != nil {
			if left, _ := v.matching(ctx, match); left != nil && !slices.Contains(left, id) {
				return nil, nil // the page removed the frame meanwhile
			}
			return nil, err
		}
		views = append(views, frame)
	}
	return views, nil
}

// matching returns the frames of other sites in this tab whose address matches.
func (v *chromiumView) matching(ctx context.Context, match func(*url.URL) bool) ([]target.ID, error) {
	infos, err := chromedp.Targets(ctx)
	if err != nil {
		return nil, err
	}
	tab, ids := chromedp.FromContext(v.ctx).BrowserContextID, []target.ID{}
	for _, i := range infos {
		u, err := url.Parse(i.URL)
		if i.Type == "iframe" && i.BrowserContextID == tab && err == nil && match(u) {
			ids = append(ids, i.TargetID)
		}
	}
	return ids, nil
}

// StopWorkers stops the service workers of the page's site, as a browser can at any
// time. Chromium only.
func (p *Page) StopWorkers(t testing.TB) {
	t.Helper()
	p.devTools(t, "stop workers", func(ctx context.Context, to *chromedp.Target) error {
		if _, err := cdp.Call(ctx, to, serviceworker.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, to, serviceworker.StopAllWorkers, cdp.Empty{})
		return err
	})
}

// DisableNetworkEvents stops the browser from reporting the page's traffic to the test,
// including each WebSocket frame, which would distort measurements. Chromium only.
func (p *Page) DisableNetworkEvents(t testing.TB) {
	t.Helper()
	p.devTools(t, "disable network events", func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, network.Disable, cdp.Empty{})
		return err
	})
}

func (p *Page) devTools(t testing.TB, what string, step func(context.Context, *chromedp.Target) error) {
	t.Helper()
	v, ok := p.view.(*chromiumView)
	if !ok {
		t.Skipf("%s: only Chromium supports this", what)
	}
	p.do(t, what, func(ctx context.Context) error { return v.do(ctx, chromedp.Func(step)) })
}

// tab opens another tab with the same cookies and storage.
func (v *chromiumView) tab() (view, error) {
	ctx, stop := chromedp.NewContext(v.ctx)
	return attached(ctx, stop)
}
