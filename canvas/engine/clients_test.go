package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// clients is a Caller. Every client is capable except plain, initially the client
// "plain". The test sets the answers.
type clients struct {
	mu     sync.Mutex
	plain  string
	asked  []string
	answer func(ctx context.Context, method string) (ahp.Value, error)
}

func (*clients) Connection(string) *channels.Subscriber { return nil }

func (c *clients) Capable(clientID, capability string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return clientID != c.plain && capability == ahp.CapabilityCanvas
}

// onlyPlain makes one client the only one without the capability.
func (c *clients) onlyPlain(clientID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plain = clientID
}

func (c *clients) Call(ctx context.Context, clientID string, _ time.Duration, method string, params any) (ahp.Value, error) {
	switch p := params.(type) { // the transcripts have _meta
	case canvas.CanvasOpenParams:
		p.Meta = nil
		params = p
	case canvas.CanvasInvokeActionParams:
		p.Meta = nil
		params = p
	}
	c.mu.Lock()
	c.asked = append(c.asked, fmt.Sprintf("%s %s %s", clientID, method, ahp.MustMarshal(params)))
	answer := c.answer
	c.mu.Unlock()
	if answer == nil {
		return ahp.Value(`{}`), nil
	}
	return answer(ctx, method)
}

func (c *clients) took() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

func (c *clients) answers(fn func(ctx context.Context, method string) (ahp.Value, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = fn
}

func always(v string, err error) func(context.Context, string) (ahp.Value, error) {
	return func(context.Context, string) (ahp.Value, error) { return ahp.Value(v), err }
}

var editor = canvas.Declaration{CanvasID: "editor", DisplayName: "Editor", Description: "Edits",
	Actions: []canvas.Action{{Name: "save", InputSchema: ahp.Value(`{"type":"object","required":["to"]}`)}}}

func newClients(t *testing.T) (*canvastest.Host, *clients) {
	c := &clients{plain: "plain"}
	return canvastest.New(t, engine.Options{Caller: c}), c
}

// join makes a client active with its declarations; leave makes it inactive.
func join(t *testing.T, h *canvastest.Host, clientID string, set ...canvas.Declaration) {
	t.Helper()
	active := session.SessionActiveClient{ClientID: clientID, CanvasProviders: set}
	ok(t, h.Canvases.Clients.Vet(active))
	ok(t, h.Log.Update(func(tx *channels.Tx) error {
		return tx.Append(canvastest.Session, session.ActiveClientSet{ActiveClient: active})
	}))
}

func leave(t *testing.T, h *canvastest.Host, clientID string) {
	t.Helper()
	ok(t, h.Log.Update(func(tx *channels.Tx) error {
		return tx.Append(canvastest.Session, session.ActiveClientRemoved{ClientID: clientID})
	}))
}

// registry returns the session's declarations, and the availability of its
// instances.
func registry(h *canvastest.Host) string {
	var names []string
	for _, d := range h.SessionState().Canvases {
		names = append(names, d.ExtensionID+"/"+d.CanvasID)
	}
	for _, o := range h.SessionState().OpenCanvases {
		names = append(names, o.InstanceID+" "+string(o.Availability))
	}
	return strings.Join(names, ", ")
}

func TestFoldFollowsActiveClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := newClients(t)
		join(t, h, "c1", editor)
		join(t, h, "plain", editor)
		other := editor
		other.CanvasID = "browser"
		join(t, h, "c2", editor, other)
		equal(t, "client:c1/editor, client:c2/editor, client:c2/browser", registry(h))
		before := h.SessionState().Canvases
		join(t, h, "c1", editor)
		if after := h.SessionState().Canvases; &before[0] != &after[0] {
			t.Error("the same set was published again")
		}
		h.Open("browser", "b1", nil)
		equal(t, `c2 canvasOpen {"channel":"ahp-session:/test","canvasId":"browser","extensionId":"client:c2","instanceId":"b1"}`, strings.Join(c.took(), ";"))
		join(t, h, "c2", editor)
		synctest.Wait()
		equal(t, "client:c1/editor, client:c2/editor, b1 stale", registry(h))
		join(t, h, "c2", other)
		synctest.Wait()
		equal(t, "client:c1/editor, client:c2/browser, b1 ready", registry(h))
		leave(t, h, "c2")
		equal(t, "client:c1/editor, b1 stale", registry(h))
		equal(t, 1, len(c.took())) // reopened once; a close of a stale instance calls no client
		ok(t, h.Canvases.Close(t.Context(), canvastest.Session, "b1"))
		equal(t, 0, len(c.took()))
	})
}

func TestLostAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := newClients(t)
		join(t, h, "c1", editor)
		h.Open("editor", "e1", ahp.Value(`{"path":"a"}`))
		h.Open("editor", "e2", nil)
		c.took()
		hang := make(chan error, 1)
		c.answers(func(ctx context.Context, _ string) (ahp.Value, error) { <-ctx.Done(); return nil, ctx.Err() })
		go func() {
			_, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "e1", ActionName: "save", Input: ahp.Value(`{"to":"x"}`)})
			hang <- err
		}()
		synctest.Wait()
		c.took()
		h.Canvases.Clients.ClientLost("c1")
		h.Canvases.Clients.ClientLost("nobody")
		wantCode(t, <-hang, canvas.CodeProviderUnavailable)
		equal(t, "client:c1/editor, e1 stale, e2 stale", registry(h))
		c.answers(always(`{"title":"again"}`, nil))
		h.Canvases.Clients.ClientBack("c1")
		synctest.Wait()
		equal(t, "client:c1/editor, e1 ready, e2 ready", registry(h))
		asked := strings.Join(c.took(), ";")
		if strings.Count(asked, "canvasOpen") != 2 || !strings.Contains(asked, `"input":{"path":"a"}`) || strings.Contains(asked, "canvasInvokeAction") {
			t.Errorf("asked again: %s", asked)
		}
	})
}

// A client provides canvases only while its current connection has the capability.
// The declarations disappear when a newer connection lacks it. They return, without
// a new set, when that connection ends or a connection with the capability replaces
// it.
func TestCurrentConnectionChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := newClients(t)
		join(t, h, "c1", editor)
		h.Open("editor", "e1", ahp.Value(`{"path":"a"}`))
		c.answers(func(ctx context.Context, _ string) (ahp.Value, error) { <-ctx.Done(); return nil, ctx.Err() })
		save := make(chan error, 1)
		go func() {
			_, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "e1", ActionName: "save", Input: ahp.Value(`{"to":"x"}`)})
			save <- err
		}()
		synctest.Wait()
		for _, lost := range []bool{false, true} {
			c.onlyPlain("c1")
			if lost {
				h.Canvases.Clients.ClientLost("c1")
			}
			h.Canvases.Clients.ClientBack("c1")
			if !lost {
				wantCode(t, <-save, canvas.CodeProviderUnavailable)
				c.answers(nil)
			}
			join(t, h, "c2", editor)
			equal(t, "client:c2/editor, e1 stale", registry(h))
			leave(t, h, "c2")
			_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "editor", InstanceID: "e1"})
			wantCode(t, err, canvas.CodeProviderUnavailable)
			c.took()
			c.onlyPlain("plain")
			h.Canvases.Clients.ClientBack("c1")
			synctest.Wait()
			equal(t, "client:c1/editor, e1 ready", registry(h))
			equal(t, `c1 canvasOpen {"channel":"ahp-session:/test","canvasId":"editor","extensionId":"client:c1","instanceId":"e1","input":{"path":"a"}}`, strings.Join(c.took(), ";"))
			h.Canvases.Clients.ClientBack("c1") // a repeated report
			synctest.Wait()
			equal(t, 0, len(c.took()))
		}
		join(t, h, "plain", editor)
		equal(t, "client:c1/editor, e1 ready", registry(h))
		c.onlyPlain("")
		h.Canvases.Clients.ClientBack("plain")
		equal(t, "client:c1/editor, client:plain/editor, e1 ready", registry(h))
		leave(t, h, "plain")
		equal(t, "client:c1/editor, e1 ready", registry(h))
	})
}

// When one client changes its declarations, another client that failed to reopen is
// not asked again.
func TestFoldAsksOnlyTheChangedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := newClients(t)
		join(t, h, "c1", editor)
		h.Open("editor", "e1", nil)
		h.Canvases.Clients.ClientLost("c1")
		c.answers(always("", ahp.ErrPermissionDenied))
		h.Canvases.Clients.ClientBack("c1")
		synctest.Wait()
		equal(t, "client:c1/editor, e1 stale", registry(h))
		c.took()
		join(t, h, "c2", editor)
		leave(t, h, "c2")
		synctest.Wait()
		equal(t, 0, len(c.took()))
		join(t, h, "c1", editor) // its own change
		synctest.Wait()
		equal(t, 1, len(c.took()))
	})
}

func TestClientAnswers(t *testing.T) {
	for _, tc := range []struct {
		name, answer string
		err          error
		code         string
	}{
		{"its own code", "", ahp.Errorf(ahp.CodeCanvasProvider, "x").With(ahp.ProviderErrorData{Code: "file_locked", Message: "locked"}), "file_locked"},
		{"no data", "", ahp.Errorf(ahp.CodeCanvasProvider, "x"), canvas.CodeHandlerError},
		{"another error", "", ahp.Errorf(ahp.CodeMethodNotFound, "x"), canvas.CodeHandlerError},
		{"not there", "", &ws.CloseError{Code: ws.CodeLost}, canvas.CodeProviderUnavailable},
		{"its own timeout", "", context.DeadlineExceeded, canvas.CodeTimeout},
		{"wrong type", `{"title":1}`, nil, canvas.CodeHandlerError},
		{"not an object", `[]`, nil, canvas.CodeHandlerError},
		{"too large", `{"later":"` + strings.Repeat("x", 64<<10) + `"}`, nil, canvas.CodeHandlerError},
		{"forbidden url", `{"url":"file:///etc/passwd"}`, nil, canvas.CodeHandlerError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h, c := newClients(t)
			join(t, h, "c1", editor)
			c.answers(always(tc.answer, tc.err))
			_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "editor", InstanceID: "e1"})
			wantCode(t, err, tc.code)
			equal(t, "client:c1/editor", registry(h))
		})
	}
}

func TestVetRefusesTheWholeSet(t *testing.T) {
	h, _ := newClients(t)
	for name, spoil := range map[string]func(*canvas.Declaration){
		"reserved name": func(d *canvas.Declaration) { d.Actions = []canvas.Action{{Name: "canvas.open"}} },
		"no id":         func(d *canvas.Declaration) { d.CanvasID = "" },
		"twice":         func(d *canvas.Declaration) { d.CanvasID = "editor" },
		"no schema":     func(d *canvas.Declaration) { d.InputSchema = ahp.Value(`true`) },
	} {
		bad := canvas.Declaration{CanvasID: "bad", DisplayName: "Bad"}
		spoil(&bad)
		if err := h.Canvases.Clients.Vet(session.SessionActiveClient{ClientID: "c1", CanvasProviders: []canvas.Declaration{editor, bad}}); err == nil {
			t.Errorf("%s was let through", name)
		}
	}
	var many []canvas.Declaration
	for i := range 65 {
		many = append(many, canvas.Declaration{CanvasID: fmt.Sprint("c", i), DisplayName: "C"})
	}
	if err := h.Canvases.Clients.Vet(session.SessionActiveClient{ClientID: "c1", CanvasProviders: many}); err == nil {
		t.Error("65 canvases were let through")
	}
}

func TestClientContent(t *testing.T) {
	h, c := newClients(t)
	join(t, h, "c1", editor)
	c.answers(always(`{"url":"ahp-canvas-content:/e1/"}`, nil))
	o := h.Open("editor", "e1", nil)
	v := h.Connect("viewer", ahp.CapabilityCanvas)
	v.Subscribe(o.Channel)
	for _, tc := range []struct {
		answer string
		err    error
		want   string
	}{
		{`{"data":"aGk=","encoding":"base64","contentType":"text/plain"}`, nil, `{"contents":[{"uri":"ahp-canvas-content:/e1/a.txt","mimeType":"text/plain","text":"hi"}]}`},
		{`{"data":"hi","encoding":"utf-8"}`, nil, `{"contents":[{"uri":"ahp-canvas-content:/e1/a.txt","mimeType":"text/plain","text":"hi"}]}`},
		{`{"data":"hi","encoding":"rot13"}`, nil, "canvas_handler_error"},
		{`{"data":"%","encoding":"base64"}`, nil, "canvas_handler_error"},
		{"", ahp.ErrNotFound, "no such resource (-32008)"},
	} {
		c.answers(always(tc.answer, tc.err))
		got, err := h.Canvases.Content.CanvasReadResource(t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: o.Channel, URI: "ahp-canvas-content:/e1/a.txt"})
		have := string(got)
		if err != nil {
			have = err.Error() + string(ahp.ToError(err).Data)
		}
		if !strings.Contains(have, tc.want) {
			t.Errorf("%s: have %s, want %s in it", tc.answer, have, tc.want)
		}
	}
}

func TestDisposedSessionForgetsItsClients(t *testing.T) {
	h, c := newClients(t)
	join(t, h, "c1", editor)
	h.Open("editor", "e1", nil)
	c.took()
	_, err := h.Sessions.DisposeSession(t.Context(), nil, ahp.ChannelParams{Channel: canvastest.Session})
	ok(t, err)
	equal(t, 1, len(c.took())) // canvasClose
	h.Canvases.Clients.ClientLost("c1")
	h.Canvases.Clients.ClientBack("c1")
	ok(t, h.Sessions.Ensure(canvastest.Session, "Again"))
	equal(t, "", registry(h))
}

// TestDeclaredNamesOfTheHost: members that only the host sets are ignored if a
// client sends them (canvas/PROTOCOL.md section 2); unknown members are kept.
func TestDeclaredNamesOfTheHost(t *testing.T) {
	h, _ := newClients(t)
	d := editor
	d.Extra = ahp.Value(`{"extensionId":"ext","x-more":1.50,"extensionName":"Ext","source":{"kind":"server"}}`)
	join(t, h, "c1", d)
	listed := h.SessionState().Canvases[0]
	equal(t, "client:c1", listed.ExtensionID)
	equal(t, session.SourceClient, listed.Source.Kind)
	equal(t, `{"x-more":1.50}`, string(listed.Extra))
	d.Extra = ahp.Value(`{"source":7}`)
	join(t, h, "c1", d)
	equal(t, "", string(h.SessionState().Canvases[0].Extra))
}
