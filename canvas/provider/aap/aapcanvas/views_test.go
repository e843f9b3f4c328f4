package aapcanvas_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/aapcanvas"
)

// peer is a View without a browser.
type peer struct {
	t       testing.TB
	c       *client.Client
	channel string
	heard   chan string // payloads of the provider
}

// connect subscribes to an open canvas with a token.
func (e *env) connect(token, channel string) *peer {
	e.t.Helper()
	c, err := client.Dial(e.t.Context(), e.host.Endpoints().AHP, client.Options{Token: token})
	if err != nil {
		e.t.Fatal(err)
	}
	p := &peer{e.t, c, channel, make(chan string, 100)}
	w := c.Watch(channel)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev, err := range w.All(ctx) {
			if err != nil {
				return
			}
			if m, ok := ev.Action.(canvas.Message); ok && ev.Origin == nil {
				p.heard <- string(m.Payload)
			}
		}
	}()
	e.t.Cleanup(func() { cancel(); w.Close(); c.Close(); <-done })
	if _, err := c.Subscribe(e.t.Context(), channel); err != nil {
		e.t.Fatal(err)
	}
	return p
}

// say sends a payload, and returns the error.
func (p *peer) say(payload string) error {
	p.t.Helper()
	return p.c.Message(p.t.Context(), p.channel, ahp.Value(payload))
}

// receives returns the provider's next payload.
func (p *peer) receives() string {
	p.t.Helper()
	select {
	case m := <-p.heard:
		return m
	case <-p.t.Context().Done():
		p.t.Fatal("received nothing")
		return ""
	}
}

// page opens p.html and returns its channel.
func (e *env) channel(id, canvasID, input string) string {
	e.t.Helper()
	o, err := e.tryOpen(canvasID, id, input)
	if err != "<nil>" {
		e.t.Fatal(err)
	}
	return o.Channel
}

// TestMessages: what a View says, what it receives, and what is stored: sections 3.2, 4 and 5.
func TestMessages(t *testing.T) {
	e := start(t).serve()
	e.write("p.html", "<p>")
	channel := e.channel("p", aapcanvas.PageID, `{"file":"p.html"}`)
	token, _ := e.host.Tokens()
	one, two := e.connect(token, channel), e.connect(token, channel)
	for _, c := range []struct{ say, hear string }{
		{`{"type":"canvas:interaction","action":"click","ref":"a","canvasFile":"other.html","agentId":"other"}`, `{"type":"aap:stored","ref":"a","id":"…","summary":"User click on p.html"}`},
		{`{"type":"canvas:interaction","action":"click","ref":"a"}`, `{"type":"aap:stored","ref":"a","id":"…","summary":"User click on p.html"}`},
		{`{"type":"canvas:interaction","ref":"b"}`, `{"type":"aap:refused","ref":"b","error":"missing_field","message":"action is required","field":"action"}`},
		{`{"type":"canvas:interaction","action":"a","element":{},"ref":"b"}`, `{"type":"aap:refused","ref":"b","error":"invalid_field","message":"element must be a string","field":"element"}`},
		{`{"type":"canvas:interaction","action":"a","data":"` + strings.Repeat("x", 48<<10) + `","ref":"b"}`, `{"type":"aap:refused","ref":"b","error":"invalid_field","message":"data must have at most 49152 bytes","field":"data"}`},
		{`{"type":"aap:load"}`, `{"x-ahp":"view/1","type":"reload"}`},
	} {
		// Ignored: no answer comes before the next one's.
		for _, ignored := range []string{`7`, `[]`, `{"type":"other","action":"a","ref":"x"}`, `{"type":"canvas:interaction","ref":"no ref"}`, `{"type":"aap:hello"}`, `{"type":"write_page","html":"x"}`} {
			if err := one.say(ignored); err != nil {
				t.Fatal(err)
			}
		}
		if err := one.say(c.say); err != nil {
			t.Fatal(err)
		}
		got := one.receives()
		if rec := e.records(); len(rec) > 0 {
			got = strings.Replace(got, rec[0].ID, "…", 1)
		}
		if got != c.hear {
			t.Errorf("%.120s:\nreceived %s\nwant  %s", c.say, got, c.hear)
		}
	}
	if records := e.records(); len(records) != 1 || records[0].CanvasFile != "p.html" {
		t.Errorf("stored %+v", records)
	}
	if err := one.say(`{"type":"canvas:interaction","action":"` + strings.Repeat("x", 65<<10) + `"}`); err == nil {
		t.Error("a message above 64 KiB is accepted")
	}
	if html, _, err := e.store.Page(agent, "p.html"); err != nil || string(html) != "<p>" {
		t.Errorf("a View wrote the page: %q, %v", html, err)
	}
	if len(two.heard) > 0 {
		t.Errorf("another View received %s", <-two.heard)
	}
	// A stale or closed canvas refuses messages, so the bridge keeps them.
	if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "p"); err != nil {
		t.Fatal(err)
	}
	if err := one.say(`{"type":"canvas:interaction","action":"click","ref":"z"}`); err == nil {
		t.Error("a closed canvas takes a message")
	}
}

// TestViewErrors: the column "View" of the table of errors, for states of the store.
func TestViewErrors(t *testing.T) {
	for want, change := range map[string]func(*env, *aap.Options){
		`"error":"storage_full"`: func(_ *env, o *aap.Options) { o.Limits.Records = -1 },
		`"error":"rate_limited"`: func(_ *env, o *aap.Options) { o.Limits.Burst = -1 },
		`"error":"unavailable","message":"the host could not store it"`: func(e *env, _ *aap.Options) { e.write("interactions", "") },
	} {
		e := startWith(t, change)
		e.write("p.html", "<p>")
		token, _ := e.host.Tokens()
		p := e.connect(token, e.channel("p", aapcanvas.PageID, `{"file":"p.html"}`))
		if err := p.say(`{"type":"canvas:interaction","action":"click","ref":"a"}`); err != nil {
			t.Fatal(err)
		}
		if got := p.receives(); !strings.Contains(got, want) || !strings.Contains(got, `"aap:refused"`) {
			t.Errorf("received %s, want %s", got, want)
		}
	}
}

// TestRolesOfViews: an interaction is a person's: an agent's View cannot make one, nor a
// View that only looks, which still sees the list.
func TestRolesOfViews(t *testing.T) {
	e := start(t, func(_ *aapcanvas.Options, o *host.Options) {
		o.Tokens = []ws.Token{{Secret: "reading-token", Role: host.RoleRead}, {Secret: "editing-token", Role: host.RoleClient}}
	}).serve()
	e.write("p.html", "<p>")
	channel := e.channel("p", aapcanvas.PageID, `{"file":"p.html"}`)
	_, agentToken := e.host.Tokens()
	const click = `{"type":"canvas:interaction","action":"click","ref":"a"}`
	p := e.connect(agentToken, channel)
	if err := p.say(click); err != nil {
		t.Fatal(err)
	}
	if got := p.receives(); !strings.Contains(got, `"aap:refused","ref":"a","error":"person_required"`) {
		t.Errorf("an agent's View received %s", got)
	}
	if err := e.connect("reading-token", channel).say(click); err == nil {
		t.Error("a View that only reads sends an interaction")
	}
	p = e.connect("editing-token", channel)
	if err := p.say(click); err != nil {
		t.Fatal(err)
	}
	if got := p.receives(); !strings.Contains(got, `"aap:stored"`) {
		t.Errorf("an editor's View received %s", got)
	}
	list := e.connect("reading-token", e.channel("l", aapcanvas.PagesID, `{}`))
	if err := list.say(`{"x-ahp":"view/1","type":"hello"}`); err != nil {
		t.Fatal(err)
	}
	if got := list.receives(); !strings.HasPrefix(got, `{"type":"aap:state","protocol":"aap/1.0","agent":{"id":"backend-auth","name":"backend-auth"}`) || !strings.Contains(got, `"file":"p.html"`) {
		t.Errorf("a reading View received %s", got)
	}
}

// TestContent: rules 1 and 11: the document with the bridge at its path and at the root,
// and nothing else.
func TestContent(t *testing.T) {
	e := start(t).serve()
	const page = "<!doctype html><head><title>x</title>"
	e.write("reports/a b.html", page)
	e.write("other.html", "<p>")
	rec, err := e.store.Submit(t.Context(), agent, aap.Interaction{Action: "a", CanvasFile: "other.html"})
	if err != nil {
		t.Fatal(err)
	}
	channel := e.channel("p", aapcanvas.PageID, `{"file":"reports/a b.html"}`)
	token, _ := e.host.Tokens()
	p := e.connect(token, channel)
	for path, found := range map[string]bool{
		"/reports/a b.html": true, "/": true, "/?x=1": true, "/reports/a b.html?q": true,
		"/other.html": false, "/reports/": false, "/reports/a b.html/": false, "/a b.html": false, "/interactions/" + rec.FileName(): false, "/reports/../other.html": false,
	} {
		c, err := p.c.ReadResource(t.Context(), channel, canvas.ContentURL("p", path))
		switch {
		case found && (err != nil || unversioned(c.Data) != string(aap.Inject([]byte(page))) || c.ContentType != "text/html; charset=utf-8"):
			t.Errorf("%s: %q %.80q, %v", path, c.ContentType, c.Data, err)
		case !found && !errors.Is(err, ahp.ErrNotFound) && err == nil:
			t.Errorf("%s is served", path)
		}
	}
}

// unversioned returns a page as Inject makes it.
func unversioned(page []byte) string {
	return regexp.MustCompile(` data-aap-version="[a-z0-9-]+"`).ReplaceAllString(string(page), "")
}

// TestListStates: a state has what people did as data; a View gets the next state when
// something happens, and older records when it asks.
func TestListStates(t *testing.T) {
	e := start(t).serve()
	e.write("p.html", "<p>")
	token, _ := e.host.Tokens()
	submit := func(element string) {
		if _, err := e.store.Submit(t.Context(), agent, aap.Interaction{Action: "click", Element: element, CanvasFile: "p.html", Data: ahp.Value(`{"secret":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	for range 60 {
		submit("x")
	}
	p := e.connect(token, e.channel("l", aapcanvas.PagesID, `{}`))
	var st struct {
		Type         string
		Interactions []struct {
			ID, Element string
			Data        ahp.Value
		}
		Pages []struct {
			File string
			Open bool
		}
		Older  bool
		Before string
	}
	state := func(until func() bool) {
		t.Helper()
		for {
			got := p.receives()
			if len(got) > 56<<10 {
				t.Fatalf("a state has %d bytes", len(got))
			}
			st.Interactions, st.Pages, st.Before = nil, nil, ""
			if err := jsonLoose(got, &st); err != nil || strings.Contains(got, `"data":`) {
				t.Fatalf("%.300s: %v", got, err)
			}
			if until() {
				return
			}
		}
	}
	if err := p.say(`{"type":"aap:hello"}`); err != nil {
		t.Fatal(err)
	}
	state(func() bool { return true })
	if len(st.Interactions) != 50 || !st.Older || len(st.Pages) != 1 || st.Pages[0].Open {
		t.Errorf("the first state is %+v", st)
	}
	last := st.Interactions[49].ID
	submit("new")
	state(func() bool { return st.Interactions[0].Element == "new" })
	if err := p.say(`{"type":"aap:older","before":"` + last + `"}`); err != nil {
		t.Fatal(err)
	}
	state(func() bool { return st.Before == last })
	if len(st.Interactions) != 10 || st.Older {
		t.Errorf("the older records are %d, older %v", len(st.Interactions), st.Older)
	}
	if err := p.say(`{"type":"aap:open","file":"p.html"}`); err != nil {
		t.Fatal(err)
	}
	state(func() bool { return len(st.Pages) == 1 && st.Pages[0].Open })
}
