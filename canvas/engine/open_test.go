package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestOpenPublishesChannelThenCatalogue(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	v := h.Connect("view")
	v.Subscribe(canvastest.Session)
	f.open = func(_ context.Context, req canvas.OpenRequest, hd *canvas.Handle) (canvas.Opened, error) {
		ok(t, hd.Update(t.Context(), canvas.Update{Title: ahp.Set("while opening"), Status: ahp.Set("busy")}))
		return canvas.Opened{Title: "answered", URL: hd.ContentURL("/")}, nil
	}
	o, err := open(h, "one", `{"n":1}`)
	ok(t, err)
	equal(t, canvas.OpenCanvas{
		InstanceID: "one", Channel: o.Channel, ExtensionID: "ext", ExtensionName: "Ext", CanvasID: "fake", DisplayName: "Fake",
		Title: "answered", Status: "busy", URL: "ahp-canvas-content:/one/", Availability: session.Ready,
	}, o)
	equal(t, []string{
		canvastest.Session + ` {"type":"session/openCanvasesChanged","openCanvases":[{"instanceId":"one","channel":"` + o.Channel +
			`","canvasId":"fake","extensionId":"ext","extensionName":"Ext","title":"answered","availability":"ready"}]}`,
	}, v.Brief())
	equal(t, `{"instanceId":"one","canvasId":"fake","extensionId":"ext","extensionName":"Ext","displayName":"Fake","input":{"n":1},`+
		`"title":"answered","status":"busy","url":"ahp-canvas-content:/one/","availability":"ready","provider":{"kind":"server"}}`,
		string(v.Subscribe(o.Channel).State))
}

func TestOpenIsIdempotent(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	first, err := open(h, "one", `{"n":1,"who":{"name":"a"}}`)
	ok(t, err)
	f.took()
	for _, input := range []string{"", `{ "who":{"name":"a"}, "n":1 }`} {
		again, err := open(h, "one", input)
		ok(t, err)
		equal(t, first, again)
	}
	equal(t, nil, f.took())

	v := h.Connect("view")
	v.Subscribe(first.Channel)
	second, err := open(h, "one", `{"n":9007199254740993}`)
	ok(t, err)
	equal(t, first.Channel, second.Channel)
	equal(t, []string{first.Channel + ` {"type":"canvas/updated","input":{"n":9007199254740993}}`}, v.Brief())
	// 2^53, one more than the largest integer that a float64 distinguishes from the
	// next.
	_, err = open(h, "one", `{"n":9007199254740992}`)
	ok(t, err)
	equal(t, []string{`open one {"n":9007199254740993}`, `open one {"n":9007199254740992}`}, f.took())
}

func TestReopenGetsTheCurrentInstanceAndHandle(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	_, err := open(h, "one", `{"n":1}`)
	ok(t, err)
	first := f.latest()
	_, err = open(h, "one", `{"n":2}`)
	ok(t, err)
	if f.latest().req.Current != canvas.Instance(first) || f.latest().h != first.h {
		t.Error("the second open did not get what the first answered with")
	}
	ok(t, first.h.SetTitle(t.Context(), "still mine"))
}

func TestReopenThatFailsChangesNothing(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	o, err := open(h, "one", `{"n":1}`)
	ok(t, err)
	v := h.Connect("view")
	v.Subscribe(o.Channel)
	v.Subscribe(canvastest.Session)
	before := h.State(o.Channel)
	f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{Title: "no"}, canvas.Errorf("fake_broken", "it broke")
	}
	_, err = open(h, "one", `{"n":2}`)
	wantCode(t, err, "fake_broken")
	equal(t, before, h.State(o.Channel))
	equal(t, nil, v.Brief())
	again, err := open(h, "one", `{"n":1}`)
	ok(t, err)
	equal(t, o, again)
}

func TestOpenRefuses(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	h.Register(canvas.Extension{ID: "other"}, f, fakeDeclaration, canvas.Declaration{CanvasID: "second", DisplayName: "Second"})
	_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "fake", ExtensionID: "ext", InstanceID: "live"})
	ok(t, err)
	for _, c := range []struct {
		name string
		args canvas.OpenArgs
		want canvas.Error
	}{
		{"session", canvas.OpenArgs{Session: "ahp-session:/none", CanvasID: "fake"}, canvas.Error{Code: canvas.CodeSessionNotFound}},
		{"canvas", canvas.OpenArgs{CanvasID: "none"}, canvas.Error{Code: canvas.CodeNotFound}},
		{"canvas of the extension", canvas.OpenArgs{CanvasID: "second", ExtensionID: "ext"}, canvas.Error{Code: canvas.CodeNotFound}},
		{"ambiguous", canvas.OpenArgs{CanvasID: "fake"}, canvas.Error{Code: canvas.CodeAmbiguous, Candidates: []string{"ext", "other"}}},
		{"other canvas", canvas.OpenArgs{CanvasID: "second", InstanceID: "live"}, canvas.Error{Code: canvas.CodeAlreadyOpen}},
		{"other extension", canvas.OpenArgs{CanvasID: "fake", ExtensionID: "other", InstanceID: "live"}, canvas.Error{Code: canvas.CodeAlreadyOpen}},
		{"instance id", canvas.OpenArgs{CanvasID: "second", InstanceID: "a\nb"}, canvas.Error{Code: canvas.CodeInputInvalid, Path: "/instanceId", Rule: "pattern"}},
		{"long instance id", canvas.OpenArgs{CanvasID: "second", InstanceID: strings.Repeat("x", 129)}, canvas.Error{Code: canvas.CodeInputInvalid, Path: "/instanceId", Rule: "pattern"}},
		{"input type", canvas.OpenArgs{CanvasID: "fake", ExtensionID: "ext", InstanceID: "a", Input: ahp.Value(`{"n":"one"}`)}, canvas.Error{Code: canvas.CodeInputInvalid, Path: "/input/n", Rule: "type"}},
		{"input required", canvas.OpenArgs{CanvasID: "fake", ExtensionID: "ext", InstanceID: "a", Input: ahp.Value(`{"who":{}}`)}, canvas.Error{Code: canvas.CodeInputInvalid, Path: "/input/who", Rule: "required"}},
		{"no object", canvas.OpenArgs{CanvasID: "second", Input: ahp.Value(`[1]`)}, canvas.Error{Code: canvas.CodeInputInvalid, Path: "/input", Rule: "type"}},
		{"too long", canvas.OpenArgs{CanvasID: "second", Input: ahp.Value(`{"x":"` + strings.Repeat("x", 256<<10) + `"}`)}, canvas.Error{Code: canvas.CodeInputInvalid, Path: "/input", Rule: "maxLength"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.args.Session == "" {
				c.args.Session = canvastest.Session
			}
			f.took()
			_, err := h.Canvases.Open(t.Context(), c.args)
			e := wantCode(t, err, c.want.Code)
			if e.Message == "" {
				t.Error("without a word for the person")
			}
			c.want.Message = e.Message
			equal(t, c.want, *e)
			equal(t, nil, f.took())
		})
	}
	// An open instance resolves an ambiguous canvas id.
	_, err = open(h, "live", "")
	ok(t, err)
}

// TestTextsAreCleaned: a title or status that does not fit one line fails neither an open
// nor an update.
func TestTextsAreCleaned(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{Title: strings.Repeat("ä", 513), Status: "a\x1b[31mb"}, nil
	}
	o, err := open(h, "one", "")
	ok(t, err)
	equal(t, strings.Repeat("ä", 511)+"…", *h.State(o.Channel).Title)
	equal(t, "a [31mb", *h.State(o.Channel).Status)
	equal(t, *h.State(o.Channel).Title, *h.SessionState().OpenCanvases[0].Title)
	ok(t, f.latest().h.SetTitle(t.Context(), "two\nlines"))
	ok(t, f.latest().h.SetStatus(t.Context(), strings.Repeat("x", 600)))
	equal(t, "two lines", *h.State(o.Channel).Title)
	equal(t, strings.Repeat("x", 511)+"…", *h.State(o.Channel).Status)
}

func TestOpenHoldsTheAnswerAgainstTheRules(t *testing.T) {
	for name, opened := range map[string]canvas.Opened{
		"url":     {URL: "javascript:alert(1)"},
		"foreign": {URL: "ahp-canvas-content:/another/"},
	} {
		t.Run(name, func(t *testing.T) {
			h, f, _ := newFake(t, engine.Options{})
			f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) { return opened, nil }
			_, err := open(h, "one", "")
			e := wantCode(t, err, canvas.CodeHandlerError)
			if strings.Contains(e.Message, "alert") {
				t.Errorf("the url stands in %q", e.Message)
			}
			if list, _ := h.Canvases.ListOpen(canvastest.Session); len(list) != 0 {
				t.Error("it is open all the same")
			}
		})
	}
	h, f, _ := newFake(t, engine.Options{})
	f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{Title: strings.Repeat("ä", 512), URL: "https://example.com/"}, nil
	}
	_, err := open(h, "one", "")
	ok(t, err)
}

func TestOpenLimits(t *testing.T) {
	h, f, reg := newFake(t, engine.Options{Limits: canvas.Limits{SessionInstances: 2, Instances: 3}})
	h.Register(canvas.Extension{ID: "lively"}, f, canvas.Declaration{CanvasID: "lively", DisplayName: "L"})
	for _, id := range []string{"a", "b"} {
		_, err := open(h, id, "")
		ok(t, err)
	}
	reg.SetReachable(false)
	_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "lively", InstanceID: "c"})
	e := wantCode(t, err, canvas.CodeLimitExceeded)
	if !strings.Contains(e.Message, "stale: a, b") {
		t.Errorf("it does not name the stale ones: %s", e.Message)
	}
	ok(t, h.Sessions.Ensure("ahp-session:/two", ""))
	other := canvas.OpenArgs{Session: "ahp-session:/two", CanvasID: "lively"}
	_, err = h.Canvases.Open(t.Context(), other)
	ok(t, err)
	_, err = h.Canvases.Open(t.Context(), other)
	e = wantCode(t, err, canvas.CodeLimitExceeded)
	equal(t, "3 canvases are open in this host, which is the limit: close one first (stale: a of ahp-session:/test, b of ahp-session:/test)", e.Message)
	ok(t, closeCanvas(h, "a"))
	_, err = h.Canvases.Open(t.Context(), other)
	ok(t, err)
}

// TestOpenLimitCountsOpensUnderWay: an open counts toward the limit before the
// provider answers, and no longer once it fails.
func TestOpenLimitCountsOpensUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{Limits: canvas.Limits{SessionInstances: 1}})
		f.open = func(ctx context.Context, _ canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
			<-ctx.Done()
			return canvas.Opened{}, ctx.Err()
		}
		go open(h, "a", "")
		synctest.Wait()
		_, err := open(h, "b", "")
		wantCode(t, err, canvas.CodeLimitExceeded)
		time.Sleep(31 * time.Second)
		f.open = nil
		_, err = open(h, "b", "")
		ok(t, err)
	})
}

func TestOpenDeadlineAndLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			time.Sleep(40 * time.Second) // ignores its context
			return canvas.Opened{}, nil
		}
		begun := time.Now()
		_, err := open(h, "one", "")
		wantCode(t, err, canvas.CodeTimeout)
		equal(t, 30*time.Second, time.Since(begun))
		handle := f.latest().h
		if !errors.Is(handle.SetTitle(t.Context(), "late"), canvas.ErrHandleClosed) {
			t.Error("the handle still works")
		}
		<-handle.Done()
		equal(t, []string{"open one "}, f.took())
		time.Sleep(11 * time.Second)
		synctest.Wait()
		equal(t, []string{"close one"}, f.took()) // the late instance is closed
		list, err := h.Canvases.ListOpen(canvastest.Session)
		ok(t, err)
		equal(t, 0, len(list))
	})
}

// TestLateAnswerWithTheCurrentInstance: a late answer with the open instance does
// not close it.
func TestLateAnswerWithTheCurrentInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		_, err := open(h, "one", "")
		ok(t, err)
		f.open = func(_ context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
			time.Sleep(time.Minute)
			return canvas.Opened{Instance: req.Current}, nil
		}
		_, err = open(h, "one", `{"n":5}`)
		wantCode(t, err, canvas.CodeTimeout)
		time.Sleep(time.Minute)
		synctest.Wait()
		equal(t, []string{"open one ", `open one {"n":5}`}, f.took())
		_, err = invoke(h, "one", "go", "")
		ok(t, err)
	})
}

func TestCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		f.open = func(ctx context.Context, _ canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
			time.Sleep(time.Second)
			return canvas.Opened{}, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		_, err := h.Canvases.Open(ctx, canvas.OpenArgs{Session: canvastest.Session, CanvasID: "fake", InstanceID: "one"})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		equal(t, []string{"open one ", "close one"}, f.took())
	})
}
