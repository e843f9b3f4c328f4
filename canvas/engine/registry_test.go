package engine_test

import (
	"context"
	"fmt"
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

func declare(ids ...string) (set []canvas.Declaration) {
	for _, id := range ids {
		set = append(set, canvas.Declaration{CanvasID: id, DisplayName: id})
	}
	return set
}

func listed(t *testing.T, h *canvastest.Host) (ids []string) {
	t.Helper()
	list, err := h.Canvases.List(canvastest.Session)
	ok(t, err)
	for _, d := range list {
		ids = append(ids, d.ExtensionID+"/"+d.CanvasID)
	}
	return ids
}

// TestRegistryIsPublished: all sessions receive a change of the registry, and
// nothing if it does not change.
func TestRegistryIsPublished(t *testing.T) {
	h := canvastest.New(t, engine.Options{})
	ok(t, h.Sessions.Ensure("ahp-session:/two", ""))
	v := h.Connect("view")
	v.Subscribe(canvastest.Session)
	v.Subscribe("ahp-session:/two")
	reg := h.Register(canvas.Extension{ID: "a", Name: "A"}, &fake{}, declare("x")...)
	one := `{"type":"session/canvasesChanged","canvases":[{"extensionId":"a","extensionName":"A","canvasId":"x","displayName":"x","description":"","source":{"kind":"server"}}]}`
	equal(t, []string{canvastest.Session + " " + one, "ahp-session:/two " + one}, v.Brief())
	ok(t, reg.Set(declare("x")...))
	equal(t, nil, v.Brief())
	reg.SetReachable(false)
	equal(t, nil, v.Brief()) // an unreachable provider's canvases stay listed
	reg.SetReachable(true)

	scoped := h.Register(canvas.Extension{ClientID: "c-7", Session: "ahp-session:/two"}, &fake{}, declare("y")...)
	equal(t, []string{"ahp-session:/two"}, channelsOf(v))
	equal(t, []string{"a/x"}, listed(t, h))
	two, err := h.Canvases.List("ahp-session:/two")
	ok(t, err)
	equal(t, "client:c-7", two[1].ExtensionID)
	equal(t, session.CanvasProviderSource{Kind: "client", ClientID: "c-7"}, two[1].Source)
	scoped.Close()
	scoped.Close()
	reg.Close()
	v.Take()
	reg.Close()
	equal(t, nil, v.Brief())
	equal(t, nil, listed(t, h))
}

func channelsOf(v *canvastest.View) (channels []string) {
	for _, e := range v.Take() {
		channels = append(channels, e.Channel)
	}
	return channels
}

// TestBadSetIsRefusedWhole: one bad declaration rejects the set, and the old set
// stays listed.
func TestBadSetIsRefusedWhole(t *testing.T) {
	many := make([]canvas.Declaration, 65)
	for i := range many {
		many[i] = canvas.Declaration{CanvasID: fmt.Sprint(i), DisplayName: "x"}
	}
	actions := make([]canvas.Action, 65)
	for i := range actions {
		actions[i].Name = fmt.Sprint(i)
	}
	action := func(a canvas.Action) canvas.Declaration {
		return canvas.Declaration{CanvasID: "bad", DisplayName: "x", Actions: []canvas.Action{a}}
	}
	schema := func(s string) canvas.Declaration {
		return canvas.Declaration{CanvasID: "bad", DisplayName: "x", InputSchema: ahp.Value(s)}
	}
	for _, c := range []struct {
		name, code string
		set        []canvas.Declaration
	}{
		{"too many", canvas.CodeLimitExceeded, many},
		{"too many actions", canvas.CodeLimitExceeded, []canvas.Declaration{{CanvasID: "bad", DisplayName: "x", Actions: actions}}},
		{"no id", canvas.CodeInputInvalid, declare("good", "")},
		{"id twice", canvas.CodeInputInvalid, declare("good", "good")},
		{"no name", canvas.CodeInputInvalid, []canvas.Declaration{{CanvasID: "bad"}}},
		{"not UTF-8", canvas.CodeInputInvalid, []canvas.Declaration{{CanvasID: "bad", DisplayName: "\xff"}}},
		{"reserved action", canvas.CodeReservedActionName, append(declare("good"), action(canvas.Action{Name: "canvas.open"}))},
		{"empty action", canvas.CodeInputInvalid, []canvas.Declaration{action(canvas.Action{})}},
		{"schema no object", canvas.CodeInputInvalid, []canvas.Declaration{schema(`true`)}},
		{"schema no JSON", canvas.CodeInputInvalid, []canvas.Declaration{schema(`{`)}},
		{"schema too big", canvas.CodeInputInvalid, []canvas.Declaration{schema(`{"title":"` + strings.Repeat("x", 64<<10) + `"}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := canvastest.New(t, engine.Options{})
			reg := h.Register(canvas.Extension{ID: "a"}, &fake{}, declare("first")...)
			wantCode(t, reg.Set(c.set...), c.code)
			_, err := h.Canvases.Register(canvas.Extension{ID: "b"}, &fake{}, c.set...)
			wantCode(t, err, c.code)
			equal(t, []string{"a/first"}, listed(t, h))
		})
	}
	h := canvastest.New(t, engine.Options{})
	h.Register(canvas.Extension{ID: "good"}, &fake{}, append(many[:63:63], schema(`{"$defs":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/x"}}}`))...)
	for _, ext := range []canvas.Extension{{}, {ID: "a:b"}, {ID: "a", Name: "\xff"}, {ID: "good"}, {ID: "good", Session: canvastest.Session}} {
		if _, err := h.Canvases.Register(ext, &fake{}); err == nil {
			t.Errorf("%+v was registered", ext)
		}
	}
}

// TestProviderReconnects tests canvas/PROTOCOL.md section 5: all instances become
// stale in one transaction, keep their url, and are opened again with the retained
// input.
func TestProviderReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		f.open = func(_ context.Context, req canvas.OpenRequest, hd *canvas.Handle) (canvas.Opened, error) {
			ok(t, hd.Save(t.Context(), []byte("kept")))
			return canvas.Opened{URL: "https://example.com/first"}, nil
		}
		o, err := open(h, "one", `{"n":7}`)
		ok(t, err)
		old := f.latest().h
		ok(t, old.Save(t.Context(), []byte("kept later")))
		v := h.Connect("view")
		v.Subscribe(canvastest.Session)
		v.Subscribe(o.Channel)
		reg.SetReachable(false)
		reg.SetReachable(false)
		row := canvastest.Session + ` {"type":"session/openCanvasesChanged","openCanvases":[{"instanceId":"one","channel":"` + o.Channel + `","canvasId":"fake","extensionId":"ext","extensionName":"Ext","availability":"%s"}]}`
		equal(t, []string{o.Channel + ` {"type":"canvas/updated","availability":"stale"}`, fmt.Sprintf(row, "stale")}, v.Brief())
		equal(t, "https://example.com/first", *h.State(o.Channel).URL)
		equal(t, []string{"ext/fake"}, listed(t, h))
		_, err = open(h, "one", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		_, err = open(h, "two", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		if old.SetTitle(t.Context(), "x") == nil {
			t.Error("the handle of a lost generation still works")
		}
		equal(t, nil, v.Brief())

		f.open = func(_ context.Context, req canvas.OpenRequest, hd *canvas.Handle) (canvas.Opened, error) {
			if string(req.Saved) != "kept later" || req.Current != nil || hd == old {
				t.Errorf("opened again with %+v", req)
			}
			ok(t, hd.SetTitle(t.Context(), "back"))
			equal(t, nil, v.Brief()) // not before it has answered
			return canvas.Opened{URL: "https://example.com/fresh"}, nil
		}
		reg.SetReachable(true)
		synctest.Wait()
		equal(t, []string{`open one {"n":7}`, `open one {"n":7}`}, f.took())
		equal(t, o.Channel+` {"type":"canvas/updated","title":"back","url":"https://example.com/fresh","availability":"ready"}`, v.Brief()[0])
		_, err = invoke(h, "one", "go", "")
		ok(t, err)
	})
}

// TestLostWhileOpening: if the provider disconnects, an open fails at once, and a
// later answer does not count.
func TestLostWhileOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			time.Sleep(2 * time.Second)
			return canvas.Opened{}, nil
		}
		time.AfterFunc(time.Second, func() { reg.SetReachable(false); reg.SetReachable(true) })
		begun := time.Now()
		_, err := open(h, "one", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		equal(t, time.Second, time.Since(begun))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		equal(t, []string{"open one ", "close one"}, f.took())
		equal(t, 0, len(h.SessionState().OpenCanvases))
	})
}

// TestWithdrawnWhileOpening: a canvas that its provider withdraws during an open is
// not opened, although the provider answers. If it is declared again before the
// answer, it opens.
func TestWithdrawnWhileOpening(t *testing.T) {
	for name, again := range map[string]bool{"withdrawn": false, "and declared again": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, f, reg := newFake(t, engine.Options{})
				f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
					ok(t, reg.Set(declare("other")...))
					if again {
						ok(t, reg.Set(fakeDeclaration))
					}
					return canvas.Opened{}, nil
				}
				_, err := open(h, "one", "")
				synctest.Wait()
				if again {
					ok(t, err)
					equal(t, []string{"open one "}, f.took())
					return
				}
				wantCode(t, err, canvas.CodeProviderUnavailable)
				equal(t, []string{"open one ", "close one"}, f.took())
				equal(t, 0, len(h.SessionState().OpenCanvases))
			})
		})
	}
}

// TestDeclaredAgain: instances of a withdrawn canvas are stale until the same
// extension declares the canvas again.
func TestDeclaredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		o, err := open(h, "one", `{"n":1}`)
		ok(t, err)
		reg.Close()
		equal(t, session.Stale, h.State(o.Channel).Availability)
		equal(t, nil, listed(t, h))
		_, err = open(h, "one", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		h.Register(canvas.Extension{ID: "another"}, f, fakeDeclaration)
		synctest.Wait()
		equal(t, session.Stale, h.State(o.Channel).Availability)
		again := h.Register(canvas.Extension{ID: "ext"}, f, fakeDeclaration)
		synctest.Wait()
		equal(t, session.Ready, h.State(o.Channel).Availability)
		ok(t, again.Set())
		equal(t, session.Stale, h.State(o.Channel).Availability)
		ok(t, again.Set(fakeDeclaration))
		synctest.Wait()
		equal(t, session.Ready, h.State(o.Channel).Availability)
		_, err = invoke(h, "one", "go", "")
		ok(t, err)
	})
}

// TestReopenThatFailsStaysStale: an instance whose reopen fails stays stale; an open
// with another input can still succeed.
func TestReopenThatFailsStaysStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		o, err := open(h, "one", `{"n":1}`)
		ok(t, err)
		reg.SetReachable(false)
		f.open = func(_ context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
			if strings.Contains(string(req.Input), "1") {
				return canvas.Opened{}, canvas.Errorf("fake_broken", "no")
			}
			return canvas.Opened{}, nil
		}
		reg.SetReachable(true)
		synctest.Wait()
		equal(t, session.Stale, h.State(o.Channel).Availability)
		again, err := open(h, "one", `{"n":2}`)
		ok(t, err)
		equal(t, o.Channel, again.Channel)
		equal(t, session.Ready, h.State(o.Channel).Availability)
		equal(t, `{"n":2}`, string(h.State(o.Channel).Input))
	})
}

// TestSavedWhileOpening: data saved during an open is passed to the next open, even
// if none was saved later.
func TestSavedWhileOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		f.open = func(_ context.Context, _ canvas.OpenRequest, hd *canvas.Handle) (canvas.Opened, error) {
			return canvas.Opened{}, hd.Save(t.Context(), []byte("first"))
		}
		_, err := open(h, "one", "")
		ok(t, err)
		f.open = nil
		reg.SetReachable(false)
		reg.SetReachable(true)
		synctest.Wait()
		equal(t, "first", string(f.latest().req.Saved))
		ok(t, closeCanvas(h, "one"))
		_, err = open(h, "one", "")
		ok(t, err)
		equal(t, "", string(f.latest().req.Saved)) // closing deletes the data
	})
}

// TestNoProvider: registering a nil provider is an error.
func TestNoProvider(t *testing.T) {
	h, _, _ := newFake(t, engine.Options{})
	if _, err := h.Canvases.Register(canvas.Extension{ID: "forgotten"}, nil, fakeDeclaration); err == nil {
		t.Error("registered")
	}
	for _, d := range h.SessionState().Canvases {
		equal(t, false, d.ExtensionID == "forgotten")
	}
}
