package look

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// chromium is a running Chromium, controlled by the DevTools protocol.
type chromium struct {
	ctx     context.Context // of the browser
	free    func()
	gate    *gate
	profile string

	process   atomic.Pointer[os.Process]
	ending    sync.Once
	tabs      sync.WaitGroup // tabs that are being opened or closed
	spare     chan tab       // holds the tab of the next look
	preparing sync.Mutex     // held while that tab is opened, so that there is room for it
	fat       atomic.Bool    // it was killed because of its memory
}

// flags are those of every browser, besides its profile and its gate. The browser must
// contact nothing: the gate would refuse it, and it would take time.
var flags = map[string]any{
	"disable-gpu": true, "disable-quic": true, "disable-background-networking": true, "disable-component-update": true,
	"disable-sync": true, "disable-dev-shm-usage": true, "disable-extensions": true, "disable-default-apps": true,
	"disable-breakpad": true, "disable-crash-reporter": true, "disable-domain-reliability": true, "disable-client-side-phishing-detection": true,
	"disable-backgrounding-occluded-windows": true, "disable-renderer-backgrounding": true, "disable-background-timer-throttling": true,
	"no-default-browser-check": true, "no-pings": true, "mute-audio": true, "hide-scrollbars": true, "deny-permission-prompts": true,
	"metrics-recording-only": true, "safebrowsing-disable-auto-update": true, "password-store": "basic", "use-mock-keychain": true,
	"force-color-profile": "srgb", "disable-features": "Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,DialMediaRouteProvider",
	"force-webrtc-ip-handling-policy": "disable_non_proxied_udp", "webrtc-ip-handling-policy": "disable_non_proxied_udp",
	"js-flags": "--max-old-space-size=512",
	// The browser resolves no names: the gate is an address, and it knows the host's.
	"host-resolver-rules": "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
	"proxy-bypass-list":   "<-loopback>",
}

// launch starts the browser of the page at an address.
func (b *Browser) launch(ctx context.Context, address *url.URL) (engine, error) {
	c := &chromium{spare: make(chan tab, 1)}
	var err error
	if c.profile, err = os.MkdirTemp("", "ahp-canvas-look-"); err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	if c.gate, err = newGate(address); err != nil {
		return nil, errors.Join(fmt.Errorf("look: %w", err), os.RemoveAll(c.profile))
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(b.program), chromedp.Headless, chromedp.NoFirstRun, chromedp.UserDataDir(c.profile),
		chromedp.ProxyServer("http://" + c.gate.ln.Addr().String()), chromedp.ModifyCmdFunc(c.prepareCommand), chromedp.WSURLReadTimeout(StartTime),
	}
	for name, value := range flags {
		options = append(options, chromedp.Flag(name, value))
	}
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // as root it does not start with a sandbox
	}
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	browser, closeBrowser := chromedp.NewContext(allocator)
	c.ctx, c.free = browser, func() { closeBrowser(); free() }
	stop := context.AfterFunc(ctx, closeBrowser)
	err = chromedp.Do(browser)
	if p := chromedp.FromContext(browser).Browser; p != nil {
		c.process.Store(p.Process())
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.end()
		if _, missing := errors.AsType[*exec.Error](err); !missing && ctx.Err() != nil {
			err = fmt.Errorf("it did not start within %v", StartTime)
		}
		return nil, fmt.Errorf("look: the browser %s: %w", b.program, err)
	}
	return c, nil
}

// prepareCommand lets the browser end with its children, and keep its temporary files in
// its profile: it is killed, and removes none itself.
func (c *chromium) prepareCommand(cmd *exec.Cmd) {
	ownGroup(cmd)
	cmd.Env = append(cmd.Environ(), "TMPDIR="+c.profile, "TMP="+c.profile, "TEMP="+c.profile)
}

// tab is an open tab with its own cookies and storage. It shows the page for pictures, in the
// size and theme of the look for or after which it was opened.
type tab struct {
	ctx  context.Context
	stop func()
	args canvas.ShotArgs
}

// open opens a tab and loads the page, which connects to the host and starts the process of a
// canvas's frame before it knows the canvas.
func (c *chromium) open(args canvas.ShotArgs) (tab, error) {
	ctx, stop := chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext())
	err := emulate(ctx, args)
	if err == nil {
		err = chromedp.Do(ctx, chromedp.Navigate(args.URL))
	}
	if err != nil {
		stop()
		return tab{}, err
	}
	return tab{ctx, stop, args}, nil
}

// emulate sets the size and the theme of a tab.
func emulate(tab context.Context, args canvas.ShotArgs) error {
	theme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: args.Theme}}}
	return chromedp.Do(tab,
		chromedp.EmulateViewport(int64(args.Width), int64(args.Height)),
		chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
			_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, theme)
			return err
		}))
}

// prepare opens the tab of the next look, if none is open or being opened. That takes about
// as long as a look itself.
func (c *chromium) prepare(args canvas.ShotArgs) {
	if !c.preparing.TryLock() {
		return
	}
	defer c.preparing.Unlock()
	if len(c.spare) > 0 {
		return
	}
	t, err := c.open(args)
	if err != nil {
		return // the browser ends; the next look says why
	}
	c.spare <- t
}

// take returns the prepared tab, which can be one that is being prepared, or opens one.
func (c *chromium) take(ctx context.Context, args canvas.ShotArgs) (tab, error) {
	if t, ok := c.prepared(args.URL); ok {
		return t, nil
	}
	type opened struct {
		tab
		err error
	}
	done := make(chan opened, 1)
	c.tabs.Go(func() {
		c.preparing.Lock() // until the tab in preparation is ready
		defer c.preparing.Unlock()
		t, ok := c.prepared(args.URL)
		var err error
		if !ok {
			t, err = c.open(args)
		}
		done <- opened{t, err}
	})
	select {
	case o := <-done:
		return o.tab, o.err
	case <-ctx.Done(): // the browser is ended, and the tab with it
		return tab{}, ctx.Err()
	}
}

// prepared returns the prepared tab. One of another session is closed.
func (c *chromium) prepared(address string) (tab, bool) {
	select {
	case t := <-c.spare:
		if t.args.URL == address && t.ctx.Err() == nil {
			return t, true
		}
		c.tabs.Go(t.stop)
	default:
	}
	return tab{}, false
}

// ended reports whether the process has ended or lost its connection.
func (c *chromium) ended() bool { return c.ctx.Err() != nil }

// end kills the process with its children.
func (c *chromium) end() {
	c.ending.Do(func() {
		killGroup(c.process.Load())
		c.free()
		c.tabs.Wait()
		c.gate.close()
		_ = os.RemoveAll(c.profile) // a folder for temporary files
	})
}

// shoot renders a page in a tab with its own cookies and storage.
func (c *chromium) shoot(ctx context.Context, args canvas.ShotArgs) (shot canvas.Shot, err error) {
	t, err := c.take(ctx, args)
	if err != nil {
		return canvas.Shot{}, err
	}
	defer c.tabs.Go(func() { c.prepare(args); t.stop() }) // in this order: a look can wait for the tab
	defer context.AfterFunc(ctx, t.stop)()
	watching, done := context.WithCancel(ctx)
	defer done()
	c.tabs.Go(func() { c.watch(watching) })
	shot, err = render(t, args)
	if c.fat.Load() {
		return canvas.Shot{}, ErrMemory
	}
	return shot, err
}

// watchEvery is how often the memory of the processes is read.
const watchEvery = 150 * time.Millisecond

// watch kills the browser if its pages take too much memory, until ctx is canceled.
func (c *chromium) watch(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if p := c.process.Load(); p != nil && memoryOf(p.Pid) > maxMemory {
			c.fat.Store(true)
			killGroup(p)
			return
		}
	}
}

// render shows a canvas in the page of a tab and returns what it shows.
func render(t tab, args canvas.ShotArgs) (shot canvas.Shot, err error) {
	tab := t.ctx
	if args.Width != t.args.Width || args.Height != t.args.Height || args.Theme != t.args.Theme {
		if err := emulate(tab, args); err != nil {
			return shot, err
		}
	}
	var unmasked bool
	if shot.Sight, unmasked, err = sight(tab, args); err != nil {
		return shot, err
	}
	height := args.Height
	if full := min(shot.Sight.Full, maxFull); args.Full && !unmasked && full > height {
		height = full
		if unmasked, err = grow(tab, args, full); err != nil {
			return shot, err
		}
	}
	if unmasked {
		shot.Reason = reasonUnmasked
		return shot, nil
	}
	shot.Width, shot.Height = args.Width, height
	for scale := 1.0; scale > 0.2; scale /= 2 {
		if shot.PNG, err = capture(tab, shot.Width, shot.Height, scale); err != nil || len(shot.PNG) <= canvas.MaxPicture {
			shot.Width, shot.Height = int(float64(shot.Width)*scale), int(float64(shot.Height)*scale)
			return shot, err
		}
	}
	shot.PNG = nil
	return shot, nil
}

// grow makes a tab as high as the canvas's document, and waits until the canvas has that height.
func grow(tab context.Context, args canvas.ShotArgs, height int) (unmasked bool, err error) {
	if err := chromedp.Do(tab, chromedp.EmulateViewport(int64(args.Width), int64(height))); err != nil {
		return false, err
	}
	args.Wait = 0
	_, unmasked, err = sight(tab, args)
	return unmasked, err
}

// maxFull is the limit of a picture's height.
const maxFull = 8000

// reasonUnmasked is the reason of a look whose canvas did not respond in time.
const reasonUnmasked = "the canvas did not respond, so what is private in it could not be hidden"

// sight names the canvas to the page, which waits until it is loaded. unmasked reports that
// the canvas did not hide what is private.
func sight(tab context.Context, args canvas.ShotArgs) (s canvas.Sight, unmasked bool, err error) {
	id, err := json.Marshal(args.InstanceID)
	if err != nil {
		return s, false, err
	}
	call := fmt.Sprintf("ahpLook(%s, %d)", id, args.Wait.Milliseconds())
	raw, err := chromedp.Run(tab, chromedp.Evaluate[[]byte](call, chromedp.EvalAwaitPromise, chromedp.EvalAsValue))
	if err != nil {
		return s, false, err
	}
	var answer struct {
		canvas.Sight
		Unmasked bool `json:"unmasked"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return s, false, fmt.Errorf("look: the page answered something else: %w", err)
	}
	answer.Bound()
	return answer.Sight, answer.Unmasked, nil
}

func capture(tab context.Context, width, height int, scale float64) ([]byte, error) {
	return chromedp.Run(tab, func(ctx context.Context, to *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, to, page.CaptureScreenshot, page.CaptureScreenshotParams{
			FromSurface: new(true), OptimizeForSpeed: new(scale == 1),
			Clip: &page.Viewport{Width: float64(width), Height: float64(height), Scale: scale},
		})
		return r.Data, err
	})
}
