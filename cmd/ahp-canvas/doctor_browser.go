package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const isWindows = runtime.GOOS == "windows"

// browserPatience bounds the start of a browser and its probe.
const browserPatience = 30 * time.Second

// browserProgram is a browser that shows the page, and how it shows an address without a
// window, with a folder as its profile.
type browserProgram struct {
	name     string
	headless func(profile string) []string
	lets     string // what a hostile canvas reaches in it; "" where that is nothing
}

var browsers = []browserProgram{
	{"chromium", asChromium, ""}, {"chromium-browser", asChromium, ""}, {"google-chrome", asChromium, ""}, {"google-chrome-stable", asChromium, ""}, {"chrome", asChromium, ""},
	{"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", asChromium, ""},
	{"firefox", asFirefox, byWebRTC}, {"firefox-esr", asFirefox, byWebRTC}, {"/Applications/Firefox.app/Contents/MacOS/firefox", asFirefox, byWebRTC},
}

const byWebRTC = "a canvas can reach servers by WebRTC in Firefox, which no page can prevent"

// browser looks for a browser and asks it for a service worker.
func (d *doctor) browser(ctx context.Context) {
	const check = "service worker"
	browser, ok := findBrowser()
	if !ok {
		d.warn("browser", "neither Chromium, Chrome nor Firefox is on the PATH",
			"The page can be opened on another machine, or with another browser that has service workers.")
		d.warn(check, "not checked: that takes a Chromium or a Firefox", "")
		return
	}
	if browser.lets == "" {
		d.ok("browser", "%s", browser.name)
	} else {
		d.warn("browser", browser.name+": "+browser.lets,
			"Where you do not trust a canvas, set media.peerconnection.enabled to false in about:config, or open the page in Chromium or Chrome.")
	}
	done := d.progress("Asking the browser for a service worker")
	said, err := probeWorker(ctx, browser)
	done()
	switch {
	case err != nil:
		d.warn(check, "not checked: "+err.Error(), "Open the page to see; it says so itself where it has to do without.")
	case said != "ok":
		d.fail(check, "the browser registers none on *.localhost: "+said,
			"Allow service workers for this machine in the browser's settings or policy; canvases are single documents until then.")
	default:
		d.ok(check, "a headless browser served a page below localhost through one; the host's own canvases were not opened")
	}
}

func findBrowser() (browserProgram, bool) {
	for _, b := range browsers {
		if found, err := exec.LookPath(b.name); err == nil {
			return browserProgram{found, b.headless, b.lets}, true
		}
	}
	return browserProgram{}, false
}

// The probe is a page on a content host's name, as a canvas gets it. It reports
// what a worker of its own answered.
const (
	probePage = `<!doctype html><title>probe</title><script type="module">
const say = (text) => fetch("/said", { method: "POST", body: text });
try {
  await navigator.serviceWorker.register("/worker.js");
  await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller)
    await new Promise((done) => { navigator.serviceWorker.oncontrollerchange = done; });
  await say(await (await fetch("/asked")).text());
} catch (e) { await say(String(e)); }
</script>`
	probeWorkerScript = `self.oninstall = () => self.skipWaiting();
self.onactivate = (e) => e.waitUntil(self.clients.claim());
self.onfetch = (e) => { if (new URL(e.request.url).pathname === "/asked") e.respondWith(new Response("ok")); };`
)

// probeWorker shows the probe to a browser and returns what it reports: "ok", or
// what is wrong. The error says why it could not be asked.
func probeWorker(ctx context.Context, browser browserProgram) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, browserPatience)
	defer cancel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	said := make(chan string, 1)
	srv := &http.Server{Handler: probeHandler(said), ReadHeaderTimeout: patience}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }() // until it is closed below
	defer func() { srv.Close(); <-served }()

	_, port, _ := net.SplitHostPort(ln.Addr().String())
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- runBrowser(running, browser, "http://"+probeName+".localhost:"+port+"/") }()
	select {
	case text := <-said:
		stop()
		<-ended
		return text, nil
	case err := <-ended:
		stop()
		return "", errors.Join(errors.New("the browser ended before it answered"), err)
	case <-ctx.Done():
		stop()
		<-ended
		return "", fmt.Errorf("the browser did not answer in %v", browserPatience)
	}
}

func probeHandler(said chan<- string) http.Handler {
	mux := http.NewServeMux()
	text := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, body)
		}
	}
	mux.HandleFunc("GET /{$}", text("text/html; charset=utf-8", probePage))
	mux.HandleFunc("GET /worker.js", text("text/javascript", probeWorkerScript))
	mux.HandleFunc("GET /asked", text("text/plain", "the worker did not answer, the server did"))
	mux.HandleFunc("POST /said", func(_ http.ResponseWriter, r *http.Request) {
		var b [200]byte
		n, _ := r.Body.Read(b[:])
		select {
		case said <- strings.TrimSpace(string(b[:n])):
		default: // it has spoken
		}
	})
	return mux
}

// runBrowser shows an address without a window and with a profile of its own, until
// ctx is done.
func runBrowser(ctx context.Context, browser browserProgram, address string) error {
	profile, err := os.MkdirTemp("", "ahp-canvas-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile)
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPrefs), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, browser.name, append(browser.headless(profile), address)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends its own processes
	cmd.WaitDelay = patience
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func asChromium(profile string) []string {
	args := []string{"--headless", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking",
		"--no-proxy-server", "--remote-debugging-port=0", "--user-data-dir=" + profile}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // it does not start as root with one; the page is ours
	}
	return args
}

func asFirefox(profile string) []string {
	return []string{"--headless", "--no-remote", "--profile", profile}
}

// firefoxPrefs keep Firefox, which reads them in its profile, from the network and
// from questions.
const firefoxPrefs = `user_pref("network.proxy.type", 0);
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("datareporting.policy.firstRunURL", "");
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
`
