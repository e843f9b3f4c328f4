package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// browserTimeout limits the start of a browser and its probe.
const browserTimeout = 30 * time.Second

// The probe is a page under a content host's name, like a canvas. It posts what its service
// worker answered.
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

// probeServiceWorker shows the probe in a browser and returns what it posts: "ok", or what
// is wrong. The error says why the probe did not run.
func probeServiceWorker(ctx context.Context, b browser) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, browserTimeout)
	defer cancel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	posted := make(chan string, 1)
	srv := &http.Server{Handler: probeHandler(posted), ReadHeaderTimeout: timeout}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }() // until Close
	defer func() { srv.Close(); <-served }()

	_, port, _ := net.SplitHostPort(ln.Addr().String())
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.run(running, "http://"+probeName+".localhost:"+port+"/") }()
	select {
	case text := <-posted:
		stop()
		<-ended
		return text, nil
	case err := <-ended:
		stop()
		return "", errors.Join(errors.New("the browser exited before it responded"), err)
	case <-ctx.Done():
		stop()
		<-ended
		return "", fmt.Errorf("the browser did not respond within %v", browserTimeout)
	}
}

func probeHandler(posted chan<- string) http.Handler {
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
		case posted <- strings.TrimSpace(string(b[:n])):
		default: // it has posted before
		}
	})
	return mux
}
