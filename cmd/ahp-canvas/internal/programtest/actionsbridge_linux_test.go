package programtest

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestActionsBridgeFar: host, relay and the person who decides are in three networks. The
// shop is open in a browser on the host's machine, whose loopback address alone it can dial;
// the person sees it in a card through the relay and presses Allow there. The relay's end
// is nothing to the shop and the agent, and the card shows later what happened meanwhile.
func TestActionsBridgeFar(t *testing.T) {
	f, args := newFarMachines(t)
	s := f.m.serve(append(args, "--actions-bridge", "127.0.0.1:0")...)
	path := os.Getenv("PATH")
	tab := f.browser(t).Open(t, s.Link)
	frame := tab.Frames(t, 1, func(u *url.URL) bool { return u.Path == "/.ahp/frame.html" })[0]
	const card = `document.querySelector("iframe").contentWindow.document`
	frame.Wait(t, card+`.querySelector("#empty")?.hidden === false`)

	t.Setenv("PATH", path)
	browserIn(t, f.net.host)
	local, address := webtest.Start(t), f.shop(t, s)
	shop := local.Open(t, address+"/?id=one&private=1")
	f.m.eventually(`"waiting"`, "invoke", "browser", "list_runtimes")
	f.fails(t, `"waiting_for":"person"`, "browser", "never", "{}")
	frame.Wait(t, card+`.querySelector("#pages li")?.textContent.includes("wants to be worked with by your agent.")`)
	frame.Wait(t, `(`+card+`.querySelector("[data-press=Allow]").click(), true)`)
	f.m.eventually(`"ready"`, "invoke", "browser", "list_runtimes")
	f.m.do(0, "open", "browser-page", "--instance", "p", "--input", `{"target_url_contains":"private=1"}`)
	if got := f.calls(t, "#buy"); !strings.Contains(got, `"text":"Buy"`) {
		t.Errorf("the value is %s", got)
	}
	f.fails(t, `"code":"target_not_found"`, "p", "locator.element_info", `{"locator":{"selector":"#nope"}}`)
	f.fails(t, `"code":"unknown_action"`, "p", "no.such", "{}")
	f.m.do(1, "invoke", "p", "call", "--json", "--input", `{"name":"never","timeout_ms":300}`)
	if !strings.Contains(f.m.err, `"code":"handler_timeout"`) {
		t.Errorf("a timeout: %s", f.m.err)
	}
	shop.Click(t, "#buy")
	f.m.eventually(`"shop.sold"`, "events", "--timeout", "1s")

	f.killRelay()
	if got := f.calls(t, "#buy"); !strings.Contains(got, `"text":"Buy"`) {
		t.Errorf("without the relay the value is %s", got)
	}
	f.startRelay(t)
	frame.Wait(t, card+`.querySelector("#calls li .state.ready") !== null && !`+card+`.body.textContent.includes("private")`)

	f.closes(t, local, shop, address)
}

// closes opens a twin of the shop, closes the shop with a call in flight, and opens it again.
func (f *far) closes(t *testing.T, local *webtest.Browser, shop *webtest.Page, address string) {
	t.Helper()
	local.Open(t, address+"/?id=twin")
	f.m.eventually(`"twin"`, "invoke", "browser", "list_runtimes")
	call := f.m.command(t.Context(), "invoke", "p", "call", "--json", "--input", `{"name":"never","call_id":"in-flight"}`)
	var failure bytes.Buffer
	call.Stderr = &failure
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	shop.Wait(t, `window.got.some((i) => i.call_id === "in-flight")`)
	_, before := f.card(t)
	shop.Close()
	if err := call.Wait(); err == nil || !strings.Contains(failure.String(), `"code":"transport_failed"`) {
		t.Errorf("in flight: %v: %s", err, failure.String())
	}
	untilTrue(t, "stale card", func() bool { a, _ := f.card(t); return a == "stale" })
	f.fails(t, `"canvas_provider_unavailable"`, "p", "never", "{}")
	local.Open(t, address+"/?id=one&private=1")
	untilTrue(t, "ready card", func() bool { a, channel := f.card(t); return a == "ready" && channel == before })
	if got := f.calls(t, "#buy"); !strings.Contains(got, `"text":"Buy"`) {
		t.Errorf("opened again, the value is %s", got)
	}
}

// card returns availability and channel of the card of the shop.
func (f *far) card(t *testing.T) (availability, channel string) {
	t.Helper()
	for line := range strings.Lines(f.m.do(0, "ls", "--json")) {
		var c struct{ InstanceID, Availability, Channel string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.InstanceID == "p" {
			return c.Availability, c.Channel
		}
	}
	return "closed", ""
}

// calls asks the shop about an element.
func (f *far) calls(t *testing.T, selector string) string {
	t.Helper()
	return compact(f.m.do(0, "invoke", "p", "call", "--input", `{"name":"locator.element_info","arguments":{"locator":{"selector":"`+selector+`"}}}`))
}

// fails calls an action that fails, and checks what the error has.
func (f *far) fails(t *testing.T, want, instance, action, arguments string) {
	t.Helper()
	f.m.do(1, "invoke", instance, "call", "--json", "--input", `{"name":"`+action+`","arguments":`+arguments+`}`)
	if !strings.Contains(f.m.err, want) {
		t.Errorf("%s %s: %s, want %s", action, arguments, f.m.err, want)
	}
}

// shop serves a page with a runtime on the host's machine, on a separate origin.
func (f *far) shop(t *testing.T, s *server) (address string) {
	t.Helper()
	bridge, err := url.Parse(s.ActionsBridge)
	if err != nil {
		t.Fatal(err)
	}
	html := strings.ReplaceAll(text(t, "canvas/provider/actionsbridge/bridgecanvas/testdata/shop/index.html"), "BRIDGE", bridge.Host)
	ln := listenIn(t, f.net.host)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(html))
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return "http://" + ln.Addr().String()
}

// listenIn listens on the loopback address of a namespace.
func listenIn(t *testing.T, ns string) net.Listener {
	t.Helper()
	type opened struct {
		ln  net.Listener
		err error
	}
	done := make(chan opened, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: Go ends the thread with the goroutine
		f, err := os.Open(filepath.Join("/run/netns", ns))
		if err != nil {
			done <- opened{nil, err}
			return
		}
		defer f.Close()
		if _, _, errno := syscall.RawSyscall(setns, f.Fd(), syscall.CLONE_NEWNET, 0); errno != 0 {
			done <- opened{nil, errno}
			return
		}
		ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		done <- opened{ln, err}
	}()
	o := <-done
	if o.err != nil {
		t.Fatal(o.err)
	}
	return o.ln
}
