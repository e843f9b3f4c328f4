package aapcanvas_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/aapcanvas"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// TestContracts: both canvases fulfill the contract of every provider.
func TestContracts(t *testing.T) {
	e := start(t)
	e.write("a.html", "<p>")
	e.write("b.html", "<p>")
	set := aapcanvas.Declarations()
	canvastest.TestProvider(t, canvastest.Config{
		Provider: e.p, Declaration: set[0], Input: ahp.Value(`{"file":"a.html"}`), Other: ahp.Value(`{"file":"b.html"}`),
		Action: "list_interactions", ActionInput: ahp.Value(`{"limit":5}`), Path: "/a.html",
		Decisions: []string{`{"type":"canvas:interaction","action":"approve","ref":"one"}`},
	})
	canvastest.TestProvider(t, canvastest.Config{
		Provider: e.p, Declaration: set[1], Input: ahp.Value(`{}`), Other: ahp.Value(`{"agent":"` + agent + `"}`),
		Action: "list_pages", ActionInput: ahp.Value(`{}`), Path: "/index.html",
	})
}

func (e *env) tryOpen(canvasID, id, input string) (canvas.OpenCanvas, string) {
	o, err := e.host.Canvases().Open(e.t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: canvasID, InstanceID: id, Input: ahp.Value(input)})
	if ce, ok := errors.AsType[*canvas.Error](err); ok {
		return o, strings.TrimSpace(ce.Code + " " + string(ce.Details))
	}
	return o, fmt.Sprint(err)
}

// TestOpen: rule 28: agents, titles and statuses.
func TestOpen(t *testing.T) {
	e := start(t)
	e.write("reports/a.html", "<title> A &amp; B\n\u202e<b>x</b> </title>")
	e.write("untitled.html", "<svg><title>no</title></svg>")
	e.write("big.html", strings.Repeat("x", 8<<20+1))
	for _, c := range []struct{ input, title, err string }{
		{`{"file":"reports/a.html"}`, "A & B <b>x</b>", "<nil>"},
		{`{"file":"reports/a.html","title":"Mine"}`, "Mine", "<nil>"},
		{`{"file":"reports/a.html","title":" \u202e "}`, "A & B <b>x</b>", "<nil>"},
		{`{"file":"untitled.html","agent":"` + strings.ToUpper(agent) + `"}`, "untitled.html", "<nil>"},
		{`{"file":"gone.html"}`, "", "not_found"},
		{`{"file":"x.txt"}`, "", `invalid_request {"field":"file"}`},
		{`{"file":"../x.html"}`, "", `invalid_request {"field":"file"}`},
		{`{"file":"big.html"}`, "", `canvas_limit_exceeded {"field":"file"}`},
		{`{"file":"untitled.html","agent":"xyz"}`, "", "not_found"},
		{`{}`, "", "canvas_input_invalid"},
	} {
		o, got := e.tryOpen(aapcanvas.PageID, "", c.input)
		if got != c.err || o.Title != c.title || c.err == "<nil>" && o.Status != "No interactions yet" {
			t.Errorf("%s: %q, title %q, status %q", c.input, got, o.Title, o.Status)
		}
	}
	if err := os.Mkdir(e.root+"/other", 0o755); err != nil {
		t.Fatal(err)
	}
	e.until("second agent", func() bool { return len(e.store.Agents()) == 2 })
	if _, got := e.tryOpen(aapcanvas.PageID, "", `{"file":"untitled.html"}`); got != `missing_field {"field":"agent"}` {
		t.Errorf("two agents: %s", got)
	}
}

// TestActions: the actions of both canvases, and their errors.
func TestActions(t *testing.T) {
	e := start(t)
	e.write("p.html", "<p>č")
	e.open("p.html")
	if _, got := e.tryOpen(aapcanvas.PagesID, "list", "{}"); got != "<nil>" {
		t.Fatal(got)
	}
	var ids []string
	for n := range 3 {
		data := ahp.MustMarshal(map[string]string{"x": strings.Repeat("y", n*3000)})
		rec, err := e.store.Submit(t.Context(), agent, aap.Interaction{Action: "click", Element: fmt.Sprint("e", n), CanvasFile: "p.html", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, rec.ID)
	}
	expect := func(id, action, input, want string) {
		t.Helper()
		if got := e.invoke(id, action, input); got != want && !(strings.HasSuffix(want, "…") && strings.HasPrefix(got, strings.TrimSuffix(want, "…"))) {
			t.Errorf("%s %.80s of %s: %.300s, want %s", action, input, id, got, want)
		}
	}
	expect("p", "list_interactions", `{"limit":1}`, `{"interactions":[{"dataOmitted":true,"id":"`+ids[2]+`",…`)
	expect("p", "list_interactions", `{"before":"`+ids[1]+`"}`, `{"interactions":[{"id":"`+ids[0]+`",…`)
	expect("p", "list_interactions", `{"before":"none"}`, `invalid_field {"field":"before"}`)
	expect("p", "list_interactions", `{"limit":0}`, `canvas_input_invalid `)
	expect("list", "list_interactions", `{"file":"other.html"}`, `{"interactions":[],"more":false}`)
	expect("list", "list_interactions", `{"file":"../x"}`, `invalid_request {"field":"file"}`)
	if got := e.invoke("p", "get_interaction", `{"id":"`+ids[2]+`"}`); len(got) < 6000 {
		t.Errorf("get_interaction: %.200s", got)
	}
	expect("p", "get_interaction", `{"id":"none"}`, `not_found `)
	expect("p", "acknowledge", `{"id":"`+ids[0]+`","note":"read"}`, `{"id":"`+ids[0]+`","timestamp":"…`)
	if got := e.invoke("p", "list_interactions", `{}`); !strings.Contains(got, `"acknowledged":{"`+ids[0]+`":{`) || !strings.Contains(got, `"more":false`) {
		t.Errorf("list with an acknowledgment: %.300s", got)
	}
	expect("p", "read_page", `{}`, `{"file":"p.html","html":"<p>č","bytes":5,"offset":0}`)
	expect("p", "read_page", `{"offset":6}`, `invalid_field {"field":"offset"}`)
	expect("p", "write_page", `{"html":"<title>Two</title>"}`, `{"agent":"backend-auth","file":"p.html","bytes":18,"created":false}`)
	expect("list", "write_page", `{"file":"new/x.html","html":"<p>"}`, `{"agent":"backend-auth","file":"new/x.html","bytes":3,"created":true}`)
	expect("list", "write_page", `{"file":"x.txt","html":"<p>"}`, `invalid_request {"field":"file"}`)
	expect("list", "write_page", `{"file":"x.html","html":"<p>","agent":"xyz"}`, `not_found `)
	expect("p", "write_page", `{"html":"`+strings.Repeat("x", 240<<10+1)+`"}`, `canvas_input_invalid `)
	expect("list", "list_pages", `{}`, `{"protocol":"aap/1.0","agent":"backend-auth","pages":[{"file":"new/x.html","bytes":3,"modifiedAt":"…`)
	expect("list", "push", `{"file":"p.html","data":1}`, `{"canvases":1}`)
	expect("list", "push", `{"file":"new/x.html","data":1}`, `not_found `)
	expect("p", "push", `{"data":"`+strings.Repeat("x", 65<<10)+`"}`, `canvas_limit_exceeded {"field":"data"}`)
	expect("list", "delete_page", `{"file":"new/x.html"}`, `{"agent":"backend-auth","file":"new/x.html","deleted":true}`)
	expect("list", "delete_page", `{"file":"new/x.html"}`, `not_found `)
	e.write("big.html", strings.Repeat("č\n", 60_000))
	var all strings.Builder
	for offset := 0; ; {
		var part struct {
			HTML   string `json:"html"`
			Next   int    `json:"next,omitzero"`
			Offset int    `json:"offset"`
		}
		if err := ahp.Unmarshal([]byte(e.invoke("list", "read_page", fmt.Sprintf(`{"file":"big.html","offset":%d}`, offset))), &part); err != nil {
			t.Fatal(err)
		}
		all.WriteString(part.HTML)
		if offset = part.Next; offset == 0 {
			break
		}
	}
	if all.String() != strings.Repeat("č\n", 60_000) {
		t.Errorf("read %d bytes of a large page", len(all.String()))
	}
}

// post submits an interaction over HTTP.
func (e *env) post(token, body string) (status int) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), "POST", e.host.Endpoints().Page+"api/agents/"+agent+"/canvas/interactions", strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // the status counts
	return resp.StatusCode
}

// TestEventsOfHTTP: rule 27: a record that came over HTTP is an event in every session
// where its page is open, once, and otherwise in the default session.
func TestEventsOfHTTP(t *testing.T) {
	e := start(t).serve()
	e.write("p.html", "<p>")
	const other = "ahp-session:/other"
	if err := e.host.EnsureSession(other, "Other"); err != nil {
		t.Fatal(err)
	}
	token, _ := e.host.Tokens()
	submit := func() {
		t.Helper()
		if status := e.post(token, `{"action":"click","canvasFile":"p.html"}`); status != 201 {
			t.Fatalf("status %d", status)
		}
	}
	count := func(session string) int {
		n := 0
		for _, ev := range e.events(session) {
			if strings.Contains(string(ev.Event), `"aap.interaction"`) {
				n++
			}
		}
		return n
	}
	expect := func(def, oth int) {
		t.Helper()
		if d, o := count(host.DefaultSession), count(other); d != def || o != oth {
			t.Errorf("%d and %d events, want %d and %d", d, o, def, oth)
		}
	}
	submit()
	expect(1, 0)
	e.openAs(other, "one", "p.html")
	e.openAs(other, "two", "p.html")
	submit()
	expect(1, 1)
	e.openAs(host.DefaultSession, "three", "p.html")
	submit()
	expect(2, 2)
	if ev := e.events(host.DefaultSession); ev[0].InstanceID != "" || ev[len(ev)-1].InstanceID != "three" {
		t.Errorf("events %+v", ev)
	}
	if o, _ := e.host.Canvases().ListOpen(host.DefaultSession); o[0].Status != "Last: click" {
		t.Errorf("status %q", o[0].Status)
	}
	if len(e.lines) != 3 {
		t.Errorf("%d notifications", len(e.lines))
	}
	// An event that would be too large has no data.
	if _, err := e.store.Submit(t.Context(), agent, aap.Interaction{Action: strings.Repeat("🎯", 128), Element: strings.Repeat("🎯", 1024), CanvasFile: strings.Repeat("p", 500) + ".html", Data: ahp.Value(`"` + strings.Repeat(`\u0001`, 8190) + `"`)}); err != nil {
		t.Fatal(err)
	}
	ev := e.events(host.DefaultSession)
	if last := string(ev[len(ev)-1].Event); !strings.Contains(last, `"dataOmitted":true`) || strings.Contains(last, `"data":`) || len(last) > 64<<10 {
		t.Errorf("a large event has %d bytes: %.100s", len(last), last)
	}
}

// TestEventsOfViews: rules 27 and 28: a click in a View is an event in the session of its
// canvas alone, whatever other sessions show the page, and its status.
func TestEventsOfViews(t *testing.T) {
	e := start(t).serve()
	e.write("p.html", "<p>")
	const other = "ahp-session:/other"
	if err := e.host.EnsureSession(other, "Other"); err != nil {
		t.Fatal(err)
	}
	e.openAs(other, "one", "p.html")
	channel := e.channel("two", aapcanvas.PageID, `{"file":"p.html"}`)
	token, _ := e.host.Tokens()
	view := e.connect(token, channel)
	if err := view.say(`{"type":"canvas:interaction","action":"click","ref":"a"}`); err != nil {
		t.Fatal(err)
	}
	if got := view.receives(); !strings.Contains(got, `"aap:stored"`) {
		t.Fatal(got)
	}
	here, there := e.events(host.DefaultSession), e.events(other)
	if len(here) != 1 || here[0].InstanceID != "two" || len(there) != 0 {
		t.Errorf("%d events in the session of the canvas, %d in another", len(here), len(there))
	}
	if open, err := e.host.Canvases().ListOpen(host.DefaultSession); err != nil || open[0].Status != "Last: click" {
		t.Errorf("status %q, %v", open[0].Status, err)
	}
}

// TestOpensChanged: rule 29.
func TestOpensChanged(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *aapcanvas.Options, _ *host.Options) { o.Changed = true })
	list := func() (ids []string) {
		open, err := e.host.Canvases().ListOpen(host.DefaultSession)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range open {
			ids = append(ids, o.InstanceID)
		}
		return ids
	}
	e.write("a/ a č.html", "<p>")
	e.until("card", func() bool { return len(list()) == 1 })
	id := list()[0]
	if !strings.HasPrefix(id, "aap.backend-auth.a--a--.html-") || len(id) != len("aap.backend-auth.a--a--.html-")+8 {
		t.Errorf("instance %s", id)
	}
	if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, id); err != nil {
		t.Fatal(err)
	}
	e.write("a/ a č.html", "<p>changed") // a person closed it; it is looked at before the others
	for n := range 14 {
		e.write(fmt.Sprintf("p%02d.html", n), "<p>")
	}
	e.until("twelve cards", func() bool { return len(list()) == 12 })
	e.tryOpen(aapcanvas.PagesID, "list", "{}")
	settled := time.Now().Add(3 * time.Second)
	e.until("three seconds", func() bool { return time.Now().After(settled) })
	if got := list(); len(got) != 13 || slices.Contains(got, id) {
		t.Errorf("open %q", got)
	}
}

// TestOpenAlready: rule 29: a page that is open under another id is not opened a second
// time, and two pages whose names look alike have a card each.
func TestOpenAlready(t *testing.T) {
	t.Parallel()
	before := &env{t: t, root: t.TempDir()}
	if err := os.MkdirAll(before.path("."), 0o755); err != nil {
		t.Fatal(err)
	}
	before.write("m.html", "<title>One</title>")
	e := startOn(t, before, func(o *aapcanvas.Options, _ *host.Options) { o.Changed = true })
	titles := func() (titles []string) {
		open, err := e.host.Canvases().ListOpen(host.DefaultSession)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range open {
			titles = append(titles, o.Title)
		}
		slices.Sort(titles)
		return titles
	}
	e.openAs(host.DefaultSession, "mine", "m.html")
	e.write("m.html", "<title>Two, longer</title>")
	e.until("changed title", func() bool { return slices.Equal(titles(), []string{"Two, longer"}) })
	e.write("a b.html", "<title>a1</title>")
	e.write("a-b.html", "<title>a2</title>")
	e.until("two cards more", func() bool { return len(titles()) > 2 })
	if got := titles(); !slices.Equal(got, []string{"Two, longer", "a1", "a2"}) {
		t.Errorf("open: %q", got)
	}
}

// TestMarkedNew: rule 29: a page that is not opened automatically is marked in the list until a
// person opens it.
func TestMarkedNew(t *testing.T) {
	t.Parallel()
	e := start(t).serve()
	token, _ := e.host.Tokens()
	p := e.connect(token, e.channel("l", aapcanvas.PagesID, `{}`))
	if err := p.say(`{"type":"aap:hello"}`); err != nil {
		t.Fatal(err)
	}
	state := func(part string) {
		t.Helper()
		for got := ""; !strings.Contains(got, part); got = p.receives() {
		}
	}
	e.write("p.html", "<p>")
	state(`"new":true`)
	if err := p.say(`{"type":"aap:open","file":"p.html"}`); err != nil {
		t.Fatal(err)
	}
	state(`"open":true}`)
}

// TestStatus: rule 28: the status is the newest interaction of that page, not of another.
func TestStatus(t *testing.T) {
	e := start(t)
	e.write("p.html", "<p>")
	e.write("q.html", "<p>")
	for _, file := range []string{"p.html", "q.html"} {
		if _, err := e.store.Submit(t.Context(), agent, aap.Interaction{Action: "click", Element: file, CanvasFile: file}); err != nil {
			t.Fatal(err)
		}
	}
	e.write("r.html", "<p>")
	for file, want := range map[string]string{"p.html": "Last: click 'p.html'", "q.html": "Last: click 'q.html'", "r.html": "No interactions yet"} {
		if o, _ := e.tryOpen(aapcanvas.PageID, "", `{"file":"`+file+`"}`); o.Status != want {
			t.Errorf("%s: %q", file, o.Status)
		}
	}
}

// TestRemoved: rule 28: a page that is deleted stays open, says so, and appears again when
// the file is; also after a restart of the host, whose first look finds no file.
func TestRemoved(t *testing.T) {
	t.Parallel()
	store, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), sqlitestore.FileName), sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	keep := func(_ *aapcanvas.Options, o *host.Options) { o.Store = store }
	status := func(e *env) string {
		open, _ := e.host.Canvases().ListOpen(host.DefaultSession)
		return open[0].Title + "|" + open[0].Status
	}
	e := start(t, keep)
	e.write("p.html", "<title>One</title>")
	e.open("p.html")
	if err := os.Remove(e.path("p.html")); err != nil {
		t.Fatal(err)
	}
	e.until("removed", func() bool { return status(e) == "One|The agent has removed this page" })
	if err := errors.Join(e.host.Close(), e.p.Close()); err != nil {
		t.Fatal(err)
	}
	again := startOn(t, e, keep)
	again.until("reopened", func() bool { return status(again) == "p.html|The agent has removed this page" })
	again.write("p.html", "<title>Two</title>")
	again.until("back", func() bool { return status(again) == "Two|No interactions yet" })
}

// TestDeclarations: section 6: the descriptions tell agents not to ask for secrets.
func TestDeclarations(t *testing.T) {
	var ids []string
	for _, d := range aapcanvas.Declarations() {
		ids = append(ids, d.CanvasID)
		if !strings.Contains(d.Description, "Never ask for passwords") || !strings.Contains(d.Description, "page-data") {
			t.Errorf("%s: %s", d.CanvasID, d.Description)
		}
	}
	if diff := cmp.Diff([]string{aapcanvas.PageID, aapcanvas.PagesID}, ids); diff != "" {
		t.Error(diff)
	}
}
