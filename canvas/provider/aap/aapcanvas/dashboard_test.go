package aapcanvas_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// specBridge is what AAP says a dashboard puts into a page: one global that posts each
// interaction to the parent.
const specBridge = `<script>window.maestro = { send(action, element, data) {
	parent.postMessage({ type: "canvas:interaction", action, element: element || null, data: data || null }, "*");
} };</script>`

// dashboard serves an AAP dashboard that has nothing of this host's: it gets a page over
// AAP's HTTP API, puts AAP's bridge into it, shows it in a sandbox, and posts what people do.
// Its own server adds the token.
func (e *env) dashboard(file string) string {
	token, _ := e.host.Tokens()
	api := e.host.Endpoints().Page + "api/agents/" + agent + "/canvas"
	ask := func(method, address string, body io.Reader) (int, string) {
		req, err := http.NewRequestWithContext(e.t.Context(), method, address, body)
		if err != nil {
			e.t.Error(err)
			return 500, ""
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			e.t.Error(err)
			return 500, ""
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, page := ask("GET", api+"?file="+file, nil)
			_, _ = fmt.Fprintf(w, `<!doctype html><meta charset="utf-8"><script>
				window.answers = [];
				let last = Promise.resolve();
				addEventListener("message", ({ data }) => {
					if (data?.type !== "canvas:interaction") return;
					last = last.then(async () => {
						const r = await fetch("/interactions", { method: "POST", body: JSON.stringify({ ...data, canvasFile: %q }) });
						answers.push({ status: r.status, ...await r.json() });
					});
				});</script>
				<iframe sandbox="allow-scripts" width="700" height="500" srcdoc="%s"></iframe>`, file, html.EscapeString(specBridge+page))
		case "/interactions":
			status, answer := ask(r.Method, api+"/interactions", r.Body)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		default:
			http.NotFound(w, r)
		}
	}))
	e.t.Cleanup(srv.Close)
	return srv.URL
}

// TestDashboard: a dashboard of others, behind a server that adds the token, shows an agent's
// page, and what a person presses there is a record, an event and in its list.
func TestDashboard(t *testing.T) {
	skipShort(t)
	const name = "approval-cards.html"
	e := start(t).serve()
	e.write(name, e.upstream(name))
	address := e.dashboard(name)
	tab := webtest.Start(t).Open(t, address)
	e.settle(tab, `document.querySelector("iframe")`)
	act(t, tab, `document.querySelector("iframe")`, name)
	tab.Wait(t, `answers.length === 2`)
	if got, want := webtest.Eval[string](t, tab, `JSON.stringify(answers.map((a) => [a.status, a.summary.slice(0, 46)]))`),
		`[[201,"User click 'approve' on approval-cards.html wi"],[201,"User click 'reject' on approval-cards.html wit"]]`; got != want {
		t.Errorf("the dashboard was answered %s, want %s", got, want)
	}
	rec := e.wait(2)
	if want := `{"id":"pr-43","title":"Fix login bug","author":"bob","files":2,"additions":15}`; string(rec.Data) != want || rec.Element != "reject" || rec.CanvasFile != name {
		t.Errorf("the record is %+v", rec)
	}
	if events := e.events(host.DefaultSession); len(events) != 2 || !strings.Contains(string(events[1].Event), `"line":"[CANVAS] approval-cards.html: User click 'reject'`) {
		t.Errorf("events %+v", events)
	}
	listed := webtest.Eval[string](t, tab, `fetch("/interactions").then((r) => r.json()).then((a) => JSON.stringify(a.interactions.map((i) => i.element)))`)
	if listed != `["reject","approve"]` {
		t.Errorf("the dashboard lists %s", listed)
	}
}
