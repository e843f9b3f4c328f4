package mcpapp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestFigures measures, side by side, a tool call of a View and a bare one over standard
// streams.
func TestFigures(t *testing.T) {
	if os.Getenv("AHP_LONG") == "" {
		t.Skip("takes long: set AHP_LONG=1")
	}
	e := start(t)
	s := e.fake("ok")
	e.add(s)
	e.mustOpen("show", "")
	cmd := exec.Command(s.Command[0])
	cmd.Env = os.Environ()
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	bare, err := sdk.NewClient(&sdk.Implementation{Name: "bare", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	for _, size := range []int{600, 94 << 10} {
		text := strings.Repeat("x", size)
		var ours, theirs []time.Duration
		for range 200 {
			begun := time.Now()
			if got := e.rpc("show", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"text":%q}}}`, text)); !strings.Contains(got, "counted") {
				t.Fatal(got)
			}
			ours = append(ours, time.Since(begun))
			begun = time.Now()
			if _, err := bare.CallTool(context.Background(), &sdk.CallToolParams{Name: "count", Arguments: map[string]any{"text": text}}); err != nil {
				t.Fatal(err)
			}
			theirs = append(theirs, time.Since(begun))
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		t.Logf("%d bytes: a call of a View p50 %v, a bare one %v, difference %v", size, ours[100], theirs[100], ours[100]-theirs[100])
	}
}

// quantiles returns the median and the slowest of some times.
func quantiles(all []time.Duration) string {
	slices.Sort(all)
	return fmt.Sprintf("p50 %v, p90 %v, most %v", all[len(all)/2].Round(100*time.Microsecond), all[len(all)*9/10].Round(100*time.Microsecond), all[len(all)-1].Round(100*time.Microsecond))
}

// TestStaleFigures measures how long the canvas of a killed server takes to be stale, and how
// long it takes to be ready again, beside a bare start of the same server.
func TestStaleFigures(t *testing.T) {
	if os.Getenv("AHP_LONG") == "" {
		t.Skip("measures: set AHP_LONG=1")
	}
	e := start(t, func(o *mcpapp.Options, _ *host.Options) {
		o.Backoff = func() backoff.BackOff { return backoff.NewConstantBackOff(250 * time.Millisecond) } // a first retry
	})
	s := e.fake("ok")
	e.add(s)
	e.mustOpen("show", "")
	until := func(availability string) time.Duration {
		begun := time.Now()
		for e.availability("show") != availability {
			<-time.After(time.Millisecond)
		}
		return time.Since(begun)
	}
	var stale, ready, bare []time.Duration
	for range 20 {
		e.end()
		stale = append(stale, until("stale"))
		ready = append(ready, until("ready"))
		begun := time.Now()
		cmd := exec.Command(s.Command[0])
		cmd.Env = os.Environ()
		for name, value := range s.Env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		c, err := sdk.NewClient(&sdk.Implementation{Name: "bare", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		bare = append(bare, time.Since(begun))
		_ = c.Close()
	}
	t.Logf("kill to stale %s; stale to ready %s; a bare start %s", quantiles(stale), quantiles(ready), quantiles(bare))
}

// TestIdleFigures measures what servers cost that nothing asks.
func TestIdleFigures(t *testing.T) {
	if os.Getenv("AHP_LONG") == "" || runtime.GOOS != "linux" {
		t.Skip("measures on Linux: set AHP_LONG=1")
	}
	e := start(t)
	const servers, seconds = 8, 10
	measure := func() (heap uint64, switches int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		count := func() (n int) {
			all, err := filepath.Glob("/proc/self/task/*/status")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range all {
				text, _ := os.ReadFile(name) // the thread may have ended
				_, rest, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
				var one int
				_, _ = fmt.Sscan(rest, &one)
				n += one
			}
			return n
		}
		before := count()
		<-time.After(seconds * time.Second)
		return m.HeapInuse + m.StackInuse, count() - before
	}
	heap, switches := measure()
	for n := range servers {
		s := e.fake("ok")
		s.Name = fmt.Sprintf("fake%d", n)
		e.add(s)
	}
	with, more := measure()
	t.Logf("each of %d servers: %d KiB of heap and stacks; context switches in %d s: %d with none, %d with all", servers, (int64(with)-int64(heap))/servers>>10, seconds, switches, more)
}

// sdkHost is the official host side of the protocol, as a page.
const sdkHost = `
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
globalThis.mount = async (sandbox, html) => {
	const begun = Date.now();
	const frame = document.createElement("iframe");
	const bridge = new AppBridge(null, { name: "sdk", version: "1" }, { serverTools: {} }, { hostContext: { theme: "light" } });
	const ready = new Promise((go) => { bridge.onsandboxready = go; }), initialized = new Promise((go) => { bridge.oninitialized = go; });
	frame.src = sandbox;
	document.body.append(frame);
	await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
	await ready;
	await bridge.sendSandboxResourceReady({ html });
	await initialized;
	const took = Date.now() - begun;
	frame.remove();
	return took;
};
document.title = "ready";`

// officialView is a View of the official App class that notes when it is initialized.
const officialView = `
import { App } from "@modelcontextprotocol/ext-apps";
const app = new App({ name: "figures", version: "1" }, {});
app.connect().then(() => { globalThis.initialized = Date.now(); });`

// TestMountFigures measures the time from the frame of a View to its initialization, in turns
// in our page and under the official bridge, with one page in one browser.
func TestMountFigures(t *testing.T) {
	if os.Getenv("AHP_LONG") == "" {
		t.Skip("measures: set AHP_LONG=1")
	}
	inBrowser(t, func(t *testing.T) {
		page := "<!doctype html><meta charset=utf-8><title>App</title><p>App</p><script>" + bundled(t, officialView) + "</script>"
		hostPage := "<!doctype html><meta charset=utf-8><title>loading</title><body><script>" + bundled(t, sdkHost) + "</script>"
		serve := func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/sandbox" {
				http.ServeFile(w, r, "../../appview/testdata/sandbox.html")
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(hostPage))
		}
		front, views := httptest.NewServer(http.HandlerFunc(serve)), httptest.NewServer(http.HandlerFunc(serve))
		defer front.Close()
		defer views.Close()
		e := start(t)
		s := e.fake("ok")
		s.Env["FAKE_PAGE"] = e.pageOf(t, page)
		e.add(s)
		b := webtest.Start(t)
		ours, theirs := b.Open(t, e.host.Link(host.DefaultSession)), b.Open(t, front.URL)
		theirs.Wait(t, `document.title === "ready"`)
		webtest.Eval[any](t, ours, `void new MutationObserver((all) => { for (const m of all) for (const n of m.addedNodes) if (n.nodeType === 1 && (n.matches("iframe") || n.querySelector("iframe"))) globalThis.framed = Date.now(); }).observe(document.body, { childList: true, subtree: true })`)
		sandbox := strings.Replace(views.URL, "127.0.0.1", "localhost", 1) + "/sandbox"
		var one, other []time.Duration
		for range 15 {
			e.mustOpen("show", "")
			frame := ours.Frames(t, 1, webtest.ContentFrame)[0]
			const initialized = `document.querySelector("iframe")?.contentDocument?.querySelector("iframe")?.contentWindow?.initialized`
			frame.Wait(t, `Boolean(`+initialized+`)`)
			one = append(one, time.Duration(webtest.Eval[int64](t, frame, initialized)-webtest.Eval[int64](t, ours, `framed`))*time.Millisecond)
			if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "show"); err != nil {
				t.Fatal(err)
			}
			ours.Wait(t, `!document.querySelector(".card")`)
			took := webtest.Eval[int64](t, theirs, fmt.Sprintf(`mount(%q, %s)`, sandbox, ahp.MustMarshal(page)))
			other = append(other, time.Duration(took)*time.Millisecond)
		}
		t.Logf("frame to initialized: our page %s; the official bridge %s", quantiles(one), quantiles(other))
	})
}
