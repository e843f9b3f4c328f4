package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// appSite is a canvas with an app.
func appSite(id string, a *app) site { return site{id: id, title: "App " + id, app: a} }

// inCanvas evaluates the body of an async function in the canvas's page.
func inCanvas[T any](t testing.TB, frame *webtest.Page, body string) T {
	t.Helper()
	return webtest.Eval[T](t, frame, win+fmt.Sprintf(`.eval(%q)`, "(async () => {"+body+"})()"))
}

// showApp opens one app in a page.
func showApp(t *testing.T, a *app) (*env, *webtest.Page, *webtest.Page) {
	t.Helper()
	e := start(t, nil, appSite("one", a))
	p := webtest.Start(t).Open(t, e.link)
	return e, p, shown(t, p, 1)[0]
}

// TestFetch: all methods, with and without a body, reach the app as from its own page.
func TestFetch(t *testing.T) {
	a := newApp(t)
	_, _, frame := showApp(t, a)
	origin := a.URL
	for _, tt := range []struct {
		method, body, init string
		want               object
	}{
		{"GET", "", "", object{"origin": "", "length": 0., "size": 0.}},
		{"POST", "hello", "", object{"origin": origin, "length": 5., "size": 5., "type": "text/plain"}},
		{"POST", "", "", object{"origin": origin, "length": 0., "size": 0.}},
		{"PUT", "hello", `headers: { "Content-Type": "application/json", "X-Custom": "abc" },`, object{"origin": origin, "type": "application/json", "custom": "616263"}},
		{"PATCH", "hello", "", object{"size": 5.}},
		{"DELETE", "", "", object{"origin": origin}},
		{"OPTIONS", "", "", object{"origin": origin}},
		{"PURGE", "", "", object{"origin": origin}},
	} {
		t.Run(tt.method+" "+tt.body, func(t *testing.T) {
			body := ""
			if tt.body != "" {
				body = fmt.Sprintf("body: %q", tt.body)
			}
			got := inCanvas[object](t, frame, fmt.Sprintf(`return (await fetch("/echo?a=b%%20c&d=\\", { method: %q, %s %s })).json()`, tt.method, tt.init, body))
			tt.want["method"], tt.want["query"], tt.want["host"], tt.want["site"], tt.want["language"] = tt.method, "a=b%20c&d=%5C", strings.TrimPrefix(origin, "http://"), "same-origin", true
			for name, want := range tt.want {
				if diff := cmp.Diff(want, got[name]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
	if got := inCanvas[string](t, frame, `const r = await fetch("/echo", { method: "HEAD" }); return [r.status, r.headers.get("content-type"), (await r.text()).length].join()`); got != "200,application/json,0" {
		t.Errorf("HEAD: %s", got)
	}
}

// TestOtherWays: requests that are not fetches reach the app too.
func TestOtherWays(t *testing.T) {
	a := newApp(t)
	_, _, frame := showApp(t, a)
	got := inCanvas[string](t, frame, `navigator.sendBeacon("/echo?beacon", "b");
		fetch("/echo?alive", { method: "POST", body: "k", keepalive: true });
		const x = new XMLHttpRequest(); x.open("POST", "/echo?xhr"); x.setRequestHeader("X-Custom", "abc");
		const there = new Promise((r) => { x.onload = r; }); x.send("hello"); await there;
		return x.status + " " + JSON.parse(x.responseText).size + " " + x.getResponseHeader("content-type")`)
	if got != "200 5 application/json" {
		t.Errorf("XMLHttpRequest: %s", got)
	}
	for _, what := range []string{"POST /echo?beacon", "POST /echo?alive", "POST /echo?xhr"} {
		for end := time.Now().Add(webtest.Timeout / 3); a.requests(what) == 0 && time.Now().Before(end); {
			frame.WaitAtMost(20*time.Millisecond, "false")
		}
		if n := a.requests(what); n != 1 {
			t.Errorf("%s arrived %d times", what, n)
		}
	}
}

// TestStatuses: a status without a body has none; other statuses pass.
func TestStatuses(t *testing.T) {
	a := newApp(t)
	_, _, frame := showApp(t, a)
	for _, status := range []int{200, 201, 204, 205, 304, 400, 404, 418, 500, 503} {
		if got := inCanvas[string](t, frame, fmt.Sprintf(`const r = await fetch("/status/%d"); return r.status + (await r.text())`, status)); got != fmt.Sprint(status) {
			t.Errorf("%d: %s", status, got)
		}
	}
}

// TestUpload: 2 MiB are sent in chunks and arrive as one body of known length.
func TestUpload(t *testing.T) {
	webtest.InShort(t)
	a := newApp(t)
	_, _, frame := showApp(t, a)
	const fill = `const bytes = new Uint8Array(2 * 1024 * 1024).map((_, i) => i * 7);
		const sum = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 4)].map((b) => b.toString(16).padStart(2, "0")).join("");`
	got := inCanvas[object](t, frame, fill+`const r = await (await fetch("/echo", { method: "POST", body: bytes })).json(); return { ...r, same: r.sum === sum }`)
	if got["same"] != true || got["size"] != 2097152. || got["length"] != 2097152. {
		t.Errorf("the upload arrived as %v", got)
	}
	// Concurrent uploads do not wait for each other.
	got = inCanvas[object](t, frame, fill+`const all = await Promise.all(Array.from({ length: 40 }, (_, i) => fetch("/echo?" + i, { method: "POST", body: bytes.subarray(0, 100_000 + i) }).then((r) => r.json())));
		return { ok: all.every((r, i) => r.size === 100_000 + i && r.query === String(i)) }`)
	if got["ok"] != true {
		t.Error("one of 40 uploads arrived as something else")
	}
}

// TestForm: submitting a form navigates to the app's response.
func TestForm(t *testing.T) {
	a := newApp(t)
	a.page("/form", `<form method=post action=/save enctype=multipart/form-data><input name=a value="b c"><input type=file name=f><button>Go</button></form>`)
	a.HandleFunc("POST /save", func(w http.ResponseWriter, r *http.Request) {
		f, h, err := r.FormFile("f")
		if err == nil {
			defer f.Close()
			http.Redirect(w, r, "/saved?"+fmt.Sprint(r.FormValue("a"), h.Filename, h.Size), http.StatusSeeOther)
			return
		}
		http.Error(w, err.Error(), http.StatusBadRequest)
	})
	a.page("/saved", `<title>Saved</title>`)
	_, _, frame := showApp(t, a)
	inCanvas[any](t, frame, `location.href = "/form"`)
	frame.Wait(t, document+`.querySelector("form")`)
	inCanvas[any](t, frame, `const d = new DataTransfer(); d.items.add(new File(["x".repeat(100_000)], "x.txt")); document.querySelector("[type=file]").files = d.files; document.querySelector("button").click()`)
	frame.Wait(t, document+`.title === "Saved"`)
	if got := webtest.Eval[string](t, frame, document+`.location.search`); got != "?b%20cx.txt100000" {
		t.Errorf("the form arrived as %s", got)
	}
}

// TestRedirects: fetches follow redirects, and so do navigations, which keep their
// fragment.
func TestRedirects(t *testing.T) {
	a := newApp(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		a.Handle(fmt.Sprintf("/go/%d", status), http.RedirectHandler("/there?x=1", status))
	}
	a.Handle("/out", http.RedirectHandler("http://127.0.0.1:9/", http.StatusFound))
	a.page("/there", `<title>There</title>`)
	_, _, frame := showApp(t, a)
	for _, status := range []int{301, 302, 303, 307, 308} {
		if got := inCanvas[string](t, frame, fmt.Sprintf(`const r = await fetch("/go/%d"); return [r.status, r.redirected, new URL(r.url).pathname + new URL(r.url).search].join()`, status)); got != "200,true,/there?x=1" {
			t.Errorf("fetch %d: %s", status, got)
		}
		inCanvas[any](t, frame, fmt.Sprintf(`location.href = "/go/%d#part"`, status))
		frame.Wait(t, document+`.title === "There" && `+document+`.location.href.endsWith("/there?x=1#part")`)
		inCanvas[any](t, frame, `location.href = "/"`)
		frame.Wait(t, document+`.title === "App"`)
	}
	if got := inCanvas[string](t, frame, `const r = await fetch("/go/307", { redirect: "manual" }); return r.type + r.status`); got != "opaqueredirect0" {
		t.Errorf("fetch that follows nothing: %s", got)
	}
	if got := inCanvas[string](t, frame, `const r = await fetch("/out"); return r.status + (await r.text())`); !strings.HasPrefix(got, "502") {
		t.Errorf("to another origin: %s", got)
	}
	inCanvas[any](t, frame, `location.href = "/out"`)
	frame.Wait(t, document+`.body?.innerText.includes("Status 502")`)
}
