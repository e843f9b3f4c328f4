package web_test

import (
	"fmt"
	"net/http"
	"testing"
)

// TestCSRFCookie: a page that sends a CSRF cookie back in a header succeeds, also if it
// reads the cookie in its first script.
func TestCSRFCookie(t *testing.T) {
	a := newApp(t)
	a.HandleFunc("GET /form", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "XSRF-TOKEN", Value: "s3cret%3D", Path: "/"})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Form</title><script>document.early = document.cookie</script>`)
	})
	a.HandleFunc("POST /form", func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("XSRF-TOKEN"); err != nil || c.Value != "s3cret%3D" || r.Header.Get("X-XSRF-TOKEN") != "s3cret=" {
			w.WriteHeader(http.StatusForbidden)
		}
	})
	_, _, frame := showApp(t, a)
	inCanvas[any](t, frame, `location.href = "/form"`)
	frame.Wait(t, document+`.title === "Form"`)
	got := inCanvas[string](t, frame, `document.cookie = "own=1";
		const token = decodeURIComponent(/(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie)?.[1] ?? "none");
		const without = await fetch("/form", { method: "POST" });
		const r = await fetch("/form", { method: "POST", headers: { "X-XSRF-TOKEN": token } });
		return [without.status, r.status, document.early.startsWith("XSRF-TOKEN=")].join()`)
	if got != "403,200,true" {
		t.Errorf("got %s", got)
	}
}
