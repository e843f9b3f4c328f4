package webtest

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// Patience bounds every wait for a page. It is long because CI machines are
// slow; a wait that succeeds does not use it.
const Patience = 30 * time.Second

// Kind is a kind of browser.
type Kind string

const (
	Chromium Kind = "chromium"
	Firefox  Kind = "firefox"
	WebKit   Kind = "webkit" // WebKitGTK's MiniBrowser: the nearest to Safari that runs on Linux
)

// kinds says how each is found and started. more are flags of
// Chromium, profile is a folder of its own.
var kinds = map[Kind]struct {
	name     string   // for people
	programs []string // any of them
	launch   func(exe, profile string, more []string) (engine, error)
}{
	Chromium: {"Chromium", []string{"chromium", "chromium-browser", "google-chrome"}, launchChromium},
	Firefox:  {"Firefox", []string{"firefox", "firefox-esr"}, launchFirefox},
	WebKit:   {"WebKitWebDriver", []string{"WebKitWebDriver"}, launchWebKit},
}

// engine is a running browser.
type engine interface {
	open() (view, error) // a window, or a tab that is seen
	ended() bool
	close()
}

// Browser is one browser.
type Browser struct {
	Kind   Kind
	engine engine
}

// Start returns a browser, of the length of the test or, under [Main], of the
// package: a Chromium, or under [Each] what that is at. more are further flags of
// Chromium, without dashes, as in "proxy-server=http://127.0.0.1:1": browsers with
// other flags are other ones.
func Start(t testing.TB, more ...string) *Browser {
	t.Helper()
	kind := shared.kind
	exe := find(t, kind)
	if kind != Chromium {
		more = nil // the others know no flags, and are one
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

// Each runs a test once for each kind of browser: what calls [Start] in it gets that
// kind, so it must not run beside others.
func Each(t *testing.T, test func(*testing.T), of ...Kind) {
	if len(of) == 0 {
		t.Fatal("in which browsers?") // a test that runs in none would pass
	}
	for _, kind := range of {
		t.Run(string(kind), func(t *testing.T) {
			before := shared.kind
			shared.kind = kind
			t.Cleanup(func() { shared.kind = before })
			find(t, kind) // before a test says something else is lacking
			test(t)
		})
	}
}

// find looks for a browser, or ends the test.
func find(t testing.TB, kind Kind) string {
	t.Helper()
	for _, name := range kinds[kind].programs {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("no %s on this machine: the browser tests cannot run", kinds[kind].name)
	}
	t.Skipf("no %s on this machine: its browser tests are skipped", kinds[kind].name)
	return ""
}

// Open opens a url in a tab; in Chromium that has cookies and storage of its own.
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
	ctx, cancel := patience()
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
