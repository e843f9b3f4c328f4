package aapcanvas_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestGuard: other web pages, rebound names and strangers neither post nor read.
func TestGuard(t *testing.T) {
	e := start(t).serve()
	e.write("p.html", "<p>")
	token, _ := e.host.Tokens()
	page := e.host.Endpoints().Page
	for _, c := range []struct {
		name, origin, host, token string
		status                    int
	}{
		{"a web page of elsewhere", "https://evil.example", "", token, 403},
		{"an opaque page", "null", "", token, 403},
		{"a rebound name", "", "evil.example", token, 421},
		{"no token", "", "", "", 401},
		{"another token", "", "", "guess", 401},
		{"a person", "", "", token, 0},
	} {
		for _, method := range []string{"POST", "GET"} {
			body := `{"action":"click","canvasFile":"p.html"}`
			req, err := http.NewRequestWithContext(t.Context(), method, page+"api/agents/"+agent+"/canvas/interactions", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = c.host
			if c.origin != "" {
				req.Header.Set("Origin", c.origin)
			}
			if c.token != "" {
				req.Header.Set("Authorization", "Bearer "+c.token)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			want := c.status
			if want == 0 {
				want = map[string]int{"POST": 201, "GET": 200}[method]
			}
			if resp.StatusCode != want || resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s: %d %s", c.name, method, resp.StatusCode, answer)
			}
		}
		if n := len(e.records()); n > 0 != (c.status == 0) {
			t.Errorf("%s: %d records", c.name, n)
		}
	}
}

// TestPageDoesNotRunOnTheHost: an agent's page at its raw address, opened with the token in
// the URL, runs no script on the origin of the app.
func TestPageDoesNotRunOnTheHost(t *testing.T) {
	skipShort(t)
	e := start(t).serve()
	e.write("p.html", `<!doctype html><title>still</title><p>text</p><script>document.title = "ran"</script><img src=x onerror="document.title='ran'">`)
	token, _ := e.host.Tokens()
	tab := webtest.Start(t).Open(t, e.host.Endpoints().Page+aap.Prefix[1:]+agent+"/canvas?file=p.html&tkn="+url.QueryEscape(token))
	tab.Wait(t, `document.readyState === "complete" && document.body.textContent.includes("text")`)
	if title := webtest.Eval[string](t, tab, `document.title + (origin === "null" ? "" : " on " + origin)`); title != "still" {
		t.Errorf("the page is %q", title)
	}
}
