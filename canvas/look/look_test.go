package look_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/look"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/page"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// browser returns a browser that lasts as long as the test.
func browser(t testing.TB) *look.Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser: not in -short")
	}
	path, err := look.Find(look.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("Chromium is not installed, so the pictures cannot be tested")
		}
		t.Skip("Chromium is not installed")
	}
	b := look.New(path)
	t.Cleanup(func() { b.Close() })
	return b
}

// serve serves one page without any policy, in place of a host.
func serve(t *testing.T, html string) canvas.ShotArgs {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, html)
	}))
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	return canvas.ShotArgs{URL: "http://localhost:" + port + "/", Width: 300, Height: 200, Theme: "light"}
}

// canary counts the connections that it gets.
func canary(t *testing.T) (address string, hits *atomic.Int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hits = new(atomic.Int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			hits.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	return ln.Addr().String(), hits
}

// The browser itself reaches the host's listener and nothing else: this page has no policy
// that would stop it.
func TestConfined(t *testing.T) {
	b := browser(t)
	address, hits := canary(t)
	_, port, _ := net.SplitHostPort(address)
	args := serve(t, strings.ReplaceAll(`<!doctype html><body><script>
		globalThis.ahpLook = async () => {
			const seen = [];
			for (const host of ["127.0.0.1", "localhost", "c-1.localhost", "[::1]", "example.com"]) {
				const at = host + ":PORT";
				for (const tag of ["img", "iframe", "script"]) document.body.append(Object.assign(document.createElement(tag), { src: "http://" + at + "/" }));
				await fetch("http://" + at + "/", { mode: "no-cors" }).then((r) => seen.push(host + r.status), () => {});
				await new Promise((resolve) => { const s = new WebSocket("ws://" + at + "/"); s.onclose = s.onerror = resolve; });
				try { new RTCPeerConnection({ iceServers: [{ urls: "turn:" + at + "?transport=tcp", username: "u", credential: "c" }] }).createDataChannel("x"); } catch {}
			}
			const f = document.body.appendChild(document.createElement("iframe"));
			f.src = "file:///etc/passwd";
			await fetch("file:///etc/passwd").then((r) => r.text()).then((text) => seen.push(text), () => {});
			await new Promise((resolve) => setTimeout(resolve, 500));
			try { seen.push(f.contentDocument?.body.innerText ?? ""); } catch {}
			return { phase: "live", outline: seen.join("") };
		};
		</script>`, "PORT", port))
	shot, err := b.Shoot(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the page reached another server %d times", n)
	}
	if strings.Contains(shot.Sight.Outline, "root:") {
		t.Errorf("the page read a file: %q", shot.Sight.Outline)
	}
	if size, err := png.DecodeConfig(bytes.NewReader(shot.PNG)); err != nil || size.Width != 300 || size.Height != 200 {
		t.Errorf("picture of %dx%d, %v", size.Width, size.Height, err)
	}
}

// A page that hangs or takes memory ends the browser with its children, and the next look
// works.
func TestHostilePages(t *testing.T) {
	b := browser(t)
	b.SetLimit(4 * time.Second)
	fine := serve(t, `<script>globalThis.ahpLook = async () => ({ phase: "live", outline: "fine" })</script>`)
	for _, tt := range []struct {
		name, script string
		want         error
	}{
		{"hangs", `globalThis.ahpLook = async () => { for (;;); }`, look.ErrTime},
		{"takes memory", `globalThis.ahpLook = async () => { const all = []; for (;;) { all.push(new Uint8Array(64 << 20).fill(7)); await new Promise((r) => setTimeout(r, 20)); } }`, look.ErrMemory},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == look.ErrMemory {
				b.SetLimit(3 * look.LookTime) // to fill a gigabyte takes a busy machine longer
			}
			if _, err := b.Shoot(t.Context(), serve(t, "<script>"+tt.script+"</script>")); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if pid := b.Process(); pid != 0 {
				t.Errorf("the process %d is still used", pid)
			}
			shot, err := b.Shoot(t.Context(), fine)
			if err != nil || shot.Sight.Outline != "fine" {
				t.Errorf("the next look: %q, %v", shot.Sight.Outline, err)
			}
		})
	}
}

// site is a host with the canvas "page" and a browser.
type site struct {
	*testing.T
	host    *host.Host
	link    string
	browser *look.Browser
}

func start(t *testing.T) *site {
	t.Helper()
	b := browser(t)
	links := make(chan string, 1)
	h, err := host.New(host.Options{Browser: b, Ready: func(link string) { links <- link }})
	if err != nil {
		t.Fatal(err)
	}
	pages := page.New(page.Options{})
	if _, err := h.Add(pages); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.ListenAndServe(ctx, "127.0.0.1:0") }()
	t.Cleanup(func() { stop(); <-served; pages.Close() })
	return &site{t, h, <-links, b}
}

func (s *site) open(id, html string) {
	s.Helper()
	input, _ := json.Marshal(map[string]string{"html": html})
	if _, err := s.host.Canvases().Open(s.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "page", InstanceID: id, Input: ahp.Value(input)}); err != nil {
		s.Fatal(err)
	}
}

func (s *site) look(id string) canvas.Look {
	s.Helper()
	l, err := s.host.Look(s.Context(), canvas.LookArgs{Session: host.DefaultSession, InstanceID: id})
	if err != nil {
		s.Fatal(err)
	}
	return l
}

// lookLoaded looks until the canvas has been loaded: a look waits for it for 6 s, which a
// busy machine can need.
func (s *site) lookLoaded(id string) (l canvas.Look) {
	s.Helper()
	for range 10 {
		if l = s.look(id); l.Revision > 0 {
			break
		}
	}
	return l
}

const secrets = `<!doctype html><title>T</title><h1>Hello</h1><label>Name <input value="Ann"></label><input type="password" aria-label="PIN" value="hunter2"><p data-private>salary 1</p><script>nope()</script>`

// Without a View, the browser's page has the outline and the problems. It is no person, and
// a provider gets none of its messages.
func TestWithoutView(t *testing.T) {
	s := start(t)
	s.open("other", `<h1>The other canvas</h1>`)
	s.open("one", secrets+`<script type="module">import { send } from "/.ahp/canvas.js";
		for (const w of [top, parent, parent.parent]) { try { w.location.hash = "look=other"; } catch {} try { w.location = w.location; } catch {} }
		try { open("https://example.com/"); alert(1); } catch {}
		await send({ from: "the picture" }).catch(() => {});</script>`)
	l := s.lookLoaded("one")
	if l.Source != "browser" || l.Picture == nil || len(l.Views) != 0 || l.Revision != 1 {
		t.Errorf("source %q, %d bytes of picture (%s), %d views, revision %d", l.Source, len(l.Picture), l.NoPicture, len(l.Views), l.Revision)
	}
	for _, want := range []string{`heading 1 "Hello"`, `= Ann`, `textbox "PIN" = •••`, `text •••`} {
		if !strings.Contains(l.Outline, want) {
			t.Errorf("the outline lacks %q:\n%s", want, l.Outline)
		}
	}
	for _, secret := range []string{"hunter2", "salary", "other canvas"} {
		if strings.Contains(l.Outline, secret) {
			t.Errorf("the outline has %q:\n%s", secret, l.Outline)
		}
	}
	if len(l.Problems) == 0 || l.Problems[0].Kind != "error" || l.Problems[0].File != "/" || l.Problems[0].Line != 1 || !strings.Contains(l.Problems[0].Text, "nope") {
		t.Errorf("problems %+v", l.Problems)
	}
	page, err := s.host.Canvases().Events(t.Context(), host.DefaultSession, 0, 0)
	if err != nil || len(page.Events) != 0 || s.host.People(host.DefaultSession) != 0 {
		t.Errorf("events %v (%v), %d people", page.Events, err, s.host.People(host.DefaultSession))
	}
}

// A canvas that hangs does not make the look hang: it says that the canvas does not load.
func TestHangingCanvas(t *testing.T) {
	s := start(t)
	s.open("one", `<h1>x</h1><script>for (;;);</script>`)
	began := time.Now()
	l := s.look("one")
	if took := time.Since(began); took > look.LookTime+look.StartTime {
		t.Errorf("it took %v", took)
	}
	t.Logf("picture %d bytes, %q, %q", len(l.Picture), l.NoPicture, l.Message)
	if l.NoPicture == "" && l.Message == "" {
		t.Error("the look does not say that the canvas hangs")
	}
	s.open("two", `<h1>fine</h1>`)
	if l := s.lookLoaded("two"); !strings.Contains(l.Outline, "fine") {
		t.Errorf("the next look: %+v", l)
	}
}

// With a View, it is the person's page that is described, and the person sees it.
func TestWithView(t *testing.T) {
	s := start(t)
	s.open("one", secrets)
	person := webtest.Start(t).Open(t, s.link)
	frame := person.Frames(t, 1, webtest.ContentFrame)[0]
	input := `document.querySelector("iframe")?.contentDocument?.querySelector("input")`
	frame.Wait(t, input)
	webtest.Eval[any](t, frame, "void ("+strings.ReplaceAll(input, "?.", ".")+`.value = "Bob")`)
	l := s.look("one")
	if l.Source != "view" || len(l.Views) != 1 || l.Views[0].Role != "view" || l.Views[0].Width == 0 || l.Views[0].Idle < 0 {
		t.Errorf("source %q, views %+v", l.Source, l.Views)
	}
	if !strings.Contains(l.Outline, "= Bob") || len(l.Problems) != 1 {
		t.Errorf("problems %+v, outline\n%s", l.Problems, l.Outline)
	}
	if l := s.look("one"); len(l.Problems) != 0 {
		t.Errorf("problems of before the last look: %+v", l.Problems)
	}
	person.Wait(t, `document.querySelector("#happened").textContent.includes("looked at")`)
}

// BenchmarkLook measures looks with a running browser: warm-ms is the median of looks that
// come when the tab for them has been prepared, in-a-row-ms that of looks that come at once
// after another, before that.
func BenchmarkLook(b *testing.B) {
	t := browser(b)
	ready := make(chan struct{})
	h, err := host.New(host.Options{Browser: t, Ready: func(string) { close(ready) }})
	if err != nil {
		b.Fatal(err)
	}
	pages := page.New(page.Options{})
	if _, err := h.Add(pages); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { served <- h.Serve(ctx, ln) }()
	defer func() { stop(); <-served; pages.Close() }()
	<-ready
	args := canvas.LookArgs{Session: host.DefaultSession, InstanceID: "one"}
	if _, err := h.Canvases().Open(ctx, canvas.OpenArgs{Session: args.Session, CanvasID: "page", InstanceID: "one", Input: ahp.Value(`{"html":"<h1>Hi</h1>"}`)}); err != nil {
		b.Fatal(err)
	}
	one := func() time.Duration {
		begun := time.Now()
		l, err := h.Look(ctx, args)
		if err != nil || l.Picture == nil {
			b.Fatal(err, l.NoPicture)
		}
		return time.Since(begun)
	}
	one() // starts the browser
	var warm, inARow []time.Duration
	for b.Loop() {
		t.AwaitRest()
		warm = append(warm, one())
		inARow = append(inARow, one())
	}
	slices.Sort(warm)
	slices.Sort(inARow)
	b.ReportMetric(warm[len(warm)/2].Seconds()*1e3, "warm-ms")
	b.ReportMetric(inARow[len(inARow)/2].Seconds()*1e3, "in-a-row-ms")
}
