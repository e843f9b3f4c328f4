package webtest

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Timeout limits each wait for a page. It is long because CI machines are slow; a wait
// that succeeds does not use it.
const Timeout = 30 * time.Second

// Kind is a kind of browser.
type Kind string

const (
	// Chromium is Chromium or Chrome.
	Chromium Kind = "chromium"
	// Firefox is Firefox.
	Firefox Kind = "firefox"
	// WebKit is WebKitGTK's MiniBrowser, the closest to Safari on Linux.
	WebKit Kind = "webkit"
)

// kinds describes how each kind is found and started. launch gets a profile folder and
// Chromium's further flags.
var kinds = map[Kind]struct {
	name     string   // for people
	programs []string // the first one that is installed
	launch   func(exe, profile string, more []string) (engine, error)
}{
	Chromium: {"Chromium", []string{"chromium", "chromium-browser", "google-chrome"}, launchChromium},
	Firefox:  {"Firefox", []string{"firefox", "firefox-esr"}, launchFirefox},
	WebKit:   {"WebKitWebDriver", []string{"WebKitWebDriver"}, launchWebKit},
}

// engine is a running browser.
type engine interface {
	open() (view, error) // a window, or a visible tab
	ended() bool
	close()
}

// Browser is a running browser.
type Browser struct {
	// Kind is the browser's kind.
	Kind   Kind
	engine engine
}

// Start returns a browser that lasts as long as the test or, under [Main], as the
// package's tests. It is Chromium, or the current kind of [Each]. more are further
// flags of Chromium without dashes, such as "proxy-server=http://127.0.0.1:1"; each set
// of flags needs a separate browser. In -short it skips the test; see [InShort].
func Start(t testing.TB, more ...string) *Browser {
	t.Helper()
	skipShort(t)
	kind := kindOf(t)
	exe := find(t, kind)
	if kind != Chromium {
		more = nil // only Chromium has flags
	}
	if !shared.on {
		e, err := kinds[kind].launch(exe, t.TempDir(), more)
		if err != nil {
			t.Fatalf("start %s: %v", kinds[kind].name, err)
		}
		t.Cleanup(e.close)
		return &Browser{kind, e}
	}
	b, err := shared.start(kind, exe, more)
	if err != nil {
		t.Fatalf("start %s: %v", kinds[kind].name, err)
	}
	return b
}

// Each runs a test once for each kind of browser, side by side. [Start] returns that kind in
// the test and its subtests.
func Each(t *testing.T, test func(*testing.T), of ...Kind) {
	if len(of) == 0 {
		t.Fatal("Each needs at least one kind of browser")
	}
	skipShort(t)
	for _, kind := range of {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			chosen.set(t, kind)
			find(t, kind) // skip or fail for a missing browser first
			test(t)
		})
	}
}

// InShort lets a test use browsers in -short too. It is for the tests whose traffic runs
// concurrent Go code, so that the race detector sees it; the others only exercise the
// browser.
func InShort(t testing.TB) { inShort.set(t, true) }

func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() && inShort.get(t) == nil {
		t.Skip("needs a browser: not in -short")
	}
}

// What tests and their subtests have chosen.
var chosen, inShort ofTests

// kindOf returns the kind of browser of a test.
func kindOf(t testing.TB) Kind {
	if kind, ok := chosen.get(t).(Kind); ok {
		return kind
	}
	return Chromium
}

// ofTests has a value for some tests, which is that of their subtests too.
type ofTests struct{ byName sync.Map }

func (o *ofTests) set(t testing.TB, value any) {
	o.byName.Store(t.Name(), value)
	t.Cleanup(func() { o.byName.Delete(t.Name()) })
}

func (o *ofTests) get(t testing.TB) any {
	for name := t.Name(); ; {
		if value, ok := o.byName.Load(name); ok {
			return value
		}
		at := strings.LastIndexByte(name, '/')
		if at < 0 {
			return nil
		}
		name = name[:at]
	}
}

// find returns the path of a browser. Without one it skips the test, or fails it on CI.
func find(t testing.TB, kind Kind) string {
	t.Helper()
	for _, name := range kinds[kind].programs {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed, so the browser tests cannot run", kinds[kind].name)
	}
	t.Skipf("%s is not installed, so its browser tests are skipped", kinds[kind].name)
	return ""
}

// Open opens a URL in a tab. In Chromium the tab has its own cookies and storage.
func (b *Browser) Open(t testing.TB, address string) *Page {
	t.Helper()
	p := b.tab(t)
	p.Navigate(t, address)
	return p
}

// TryOpen opens a URL in a tab, and ignores whether it loads.
func (b *Browser) TryOpen(t testing.TB, address string) {
	t.Helper()
	p := b.tab(t)
	ctx, cancel := timeout()
	defer cancel()
	_ = p.view.navigate(ctx, address)
}

func (b *Browser) tab(t testing.TB) *Page {
	t.Helper()
	v, err := b.engine.open()
	if err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	t.Cleanup(v.close)
	return &Page{v}
}
