package client_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

var editorDeclaration = canvas.Declaration{
	CanvasID: "editor", DisplayName: "Editor", Description: "Edits.",
	Actions: []canvas.Action{{Name: "save"}, {Name: "code"}, {Name: "fail"}, {Name: "wait"}, {Name: "large"}},
}

// desk is a provider that records its calls.
type desk struct {
	mu     sync.Mutex
	asked  []string
	handle *canvas.Handle
	hold   chan struct{} // if not nil, opens wait for it
}

func (d *desk) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, what)
}

func (d *desk) took() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.asked
	d.asked = nil
	return asked
}

func (d *desk) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	what := "open "
	if req.Current != nil {
		what = "again "
	}
	d.note(what + req.InstanceID + " " + string(req.Input))
	d.mu.Lock()
	hold := d.hold
	d.handle = h
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if req.InstanceID == "bad" {
		return canvas.Opened{}, canvas.Errorf("no_such_file", "there is no such file")
	}
	return canvas.Opened{Title: "Editor", URL: h.ContentURL("/"), Instance: &sheet{d, req.InstanceID}}, nil
}

type sheet struct {
	d  *desk
	id string
}

func (s *sheet) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	s.d.note(action + " " + s.id)
	switch action {
	case "code":
		return nil, canvas.Errorf(canvas.CodeAlreadyOpen, "a code of the host, from a provider")
	case "fail":
		return nil, errors.New("the disk is full")
	case "wait":
		<-ctx.Done()
		s.d.note("waited " + s.id)
		return nil, ctx.Err()
	case "large":
		return ahp.MustMarshal(strings.Repeat("x", 5<<20)), nil
	}
	return ahp.Value(`{"saved":true}`), nil
}

func (s *sheet) Close(context.Context) error {
	s.d.note("close " + s.id)
	return nil
}

// photo is about the largest content that a client can serve (canvas/PROTOCOL.md
// section 6).
var photo = bytes.Repeat([]byte{0x89, 0xff, 0}, 1_000_000)

func (s *sheet) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	switch req.Path.Name() {
	case "dot.png":
		return canvas.Content{Data: []byte{0x89, 0xff, 0}}, nil
	case "photo.png":
		return canvas.Content{Data: photo}, nil
	case "broken":
		return canvas.Content{}, canvas.Errorf("torn", "it is torn")
	}
	content, err := canvas.ReadFile(fstest.MapFS{"index.html": {Data: []byte("<p>text")}}, req)
	if errors.Is(err, fs.ErrNotExist) {
		return content, fs.ErrNotExist
	}
	return content, err
}

// provides returns a host, and a client that provides an editor in session A.
func provides(t *testing.T, opts client.Options) (*testHost, *desk, *client.Client) {
	t.Helper()
	h, d := newHost(t, channels.Options{}), &desk{}
	opts.ClientID = "desk"
	c := h.dial(t, opts)
	if err := c.Provide(t.Context(), sessionA, "Desk", d, editorDeclaration); err != nil {
		t.Fatal(err)
	}
	return h, d, c
}

func (h *testHost) openEditor(instance, input string) (canvas.OpenCanvas, error) {
	args := canvas.OpenArgs{Session: sessionA, CanvasID: "editor", InstanceID: instance}
	if input != "" {
		args.Input = ahp.Value(input)
	}
	return h.canvases.Open(h.t.Context(), args)
}

func (h *testHost) invoke(instance, action string) (ahp.Value, error) {
	return h.canvases.Invoke(h.t.Context(), canvas.InvokeArgs{Session: sessionA, InstanceID: instance, ActionName: action})
}

func (h *testHost) closeCanvas(instance string) error {
	return h.canvases.Close(h.t.Context(), sessionA, instance)
}

func (h *testHost) availability(channel string) session.CanvasAvailability {
	st, _ := h.log.State(channel)
	return st.(canvas.CanvasState).Availability
}

func wantAsked(t *testing.T, d *desk, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, d.took()); diff != "" {
		t.Error(diff)
	}
}

func TestProvide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, d, c := provides(t, client.Options{})
		o := must(h.openEditor("e1", `{"path":"a"}`))
		if o.Title != "Editor" || o.ExtensionID != "client:desk" {
			t.Errorf("%+v", o)
		}
		if v, err := h.invoke("e1", "save"); err != nil || string(v) != `{"saved":true}` {
			t.Errorf("save: %s, %v", v, err)
		}
		must(h.openEditor("e1", `{"path":"b"}`)) // another input: the open runs again
		if err := h.closeCanvas("e1"); err != nil {
			t.Error(err)
		}
		must(h.openEditor("e1", ""))
		wantAsked(t, d, `open e1 {"path":"a"}`, "save e1", `again e1 {"path":"b"}`, "close e1", "open e1 ")
		c.Close()
		wantAsked(t, d, "close e1")
	})
}

// Every failure is -32012 with a code, the provider's if it has one. A result that is
// too large is one too: its frame would end the connection.
func TestProviderErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, c := provides(t, client.Options{})
		must(h.openEditor("e1", ""))
		for action, want := range map[string]canvas.Error{
			"code":  {Code: canvas.CodeAlreadyOpen, Message: "a code of the host, from a provider"},
			"fail":  {Code: canvas.CodeHandlerError, Message: "the disk is full"},
			"large": {Code: canvas.CodeLimitExceeded, Message: "the answer has 5242892 bytes, at most 4193280 are allowed"},
		} {
			_, err := h.invoke("e1", action)
			if e, ok := errors.AsType[*canvas.Error](err); !ok || e.Code != want.Code || e.Message != want.Message {
				t.Errorf("%s: %v, want %v", action, err, &want)
			}
		}
		_, err := h.openEditor("bad", "")
		wantErr(t, err, &canvas.Error{Code: "no_such_file"})
		if c.Err() != nil {
			t.Error(c.Err())
		}
	})
}

func TestProvideRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, d, c := provides(t, client.Options{})
		bad := editorDeclaration
		bad.CanvasID = ""
		err := c.Provide(t.Context(), sessionA, "Desk", d, bad)
		if _, ok := errors.AsType[*client.Refused](err); !ok {
			t.Errorf("a bad declaration: %v", err)
		}
		must(h.openEditor("e1", "")) // what was declared before stands
		wantErr(t, c.Provide(t.Context(), "ahp-session:/none", "Desk", d, editorDeclaration), &ahp.Error{Code: ahp.CodeSessionNotFound})
		none := h.dial(t, client.Options{})
		if err := none.Provide(t.Context(), sessionA, "Desk", nil, editorDeclaration); err == nil || !strings.Contains(err.Error(), "the provider is nil") {
			t.Errorf("without a provider: %v", err)
		}
	})
}

func TestProviderContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := provides(t, client.Options{})
		o := must(h.openEditor("e1", ""))
		v := h.dial(t, client.Options{Subscriptions: []string{o.Channel}})
		for path, want := range map[string]client.Content{
			"":          {ContentType: "text/html", Data: []byte("<p>text")},
			"dot.png":   {ContentType: "image/png", Data: []byte{0x89, 0xff, 0}},
			"photo.png": {ContentType: "image/png", Data: photo},
		} {
			got, err := v.ReadResource(t.Context(), o.Channel, canvas.ContentURL("e1", path))
			if err != nil || string(got.Data) != string(want.Data) || !strings.HasPrefix(got.ContentType, want.ContentType) {
				t.Errorf("%q: %s of %d bytes, %v", path, got.ContentType, len(got.Data), err)
			}
		}
		_, err := v.ReadResource(t.Context(), o.Channel, canvas.ContentURL("e1", "none"))
		wantErr(t, err, ahp.ErrNotFound)
		_, err = v.ReadResource(t.Context(), o.Channel, canvas.ContentURL("e1", "broken"))
		if e, ok := errors.AsType[*ahp.Error](err); !ok || e.Code != ahp.CodeCanvasProvider {
			t.Errorf("a failure: %v", err)
		}
	})
}

func TestHandleUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, d, _ := provides(t, client.Options{})
		o := must(h.openEditor("e1", ""))
		synctest.Wait() // until the catalog has arrived
		if err := d.handle.Update(t.Context(), canvas.Update{Title: ahp.Set("notes.txt"), Status: ahp.Set("changed")}); err != nil {
			t.Fatal(err)
		}
		st, _ := h.log.State(o.Channel)
		if s := st.(canvas.CanvasState); *s.Title != "notes.txt" || *s.Status != "changed" {
			t.Errorf("%+v", s)
		}
		v := h.dial(t, client.Options{Subscriptions: []string{o.Channel}})
		w := v.Watch(o.Channel)
		defer w.Close()
		next(t, w)
		if err := d.handle.Post(t.Context(), ahp.Value(`"hello"`)); err != nil {
			t.Fatal(err)
		}
		if ev := next(t, w); string(ev.Action.(canvas.Message).Payload) != `"hello"` {
			t.Errorf("%+v", ev)
		}
		if err := h.closeCanvas("e1"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantErr(t, d.handle.Update(t.Context(), canvas.Update{}), canvas.ErrHandleClosed)
	})
}

// Requests of different instances run concurrently, and end with the connection.
func TestProviderLosesConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, d, c := provides(t, client.Options{})
		o := must(h.openEditor("e1", `{"n":1}`))
		must(h.openEditor("e2", ""))
		failed := make(chan error, 1)
		go func() {
			_, err := h.invoke("e1", "wait")
			failed <- err
		}()
		synctest.Wait()
		must(h.invoke("e2", "save"))
		wantAsked(t, d, `open e1 {"n":1}`, "open e2 ", "wait e1", "save e2")
		h.net.cut()
		wantErr(t, <-failed, &canvas.Error{Code: canvas.CodeProviderUnavailable})
		wantAsked(t, d, "waited e1")
		if err := h.closeCanvas("e2"); err != nil { // closing a stale canvas calls no provider
			t.Fatal(err)
		}
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if h.availability(o.Channel) != session.Ready {
			t.Error("still stale")
		}
		asked := d.took()
		slices.Sort(asked) // the order of two instances is undefined
		if diff := cmp.Diff([]string{`again e1 {"n":1}`, "close e2"}, asked); diff != "" {
			t.Error(diff)
		}
	})
}

// A client declares its canvases again if the host no longer has them.
func TestProvideAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, d, c := provides(t, client.Options{})
		must(h.openEditor("e1", ""))
		h.stop()
		<-c.Disconnected()
		h.start(channels.Options{})
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantAsked(t, d, "open e1 ", "close e1")
		must(h.openEditor("e1", ""))
		// After the grace period the session no longer has the declarations.
		h.net.cut()
		time.Sleep(31 * time.Second)
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantAsked(t, d, "open e1 ", "again e1 ")
		// Within the grace period the host keeps them, and the client sends nothing.
		h.net.cut()
		synctest.Wait()
		w := h.dial(t, client.Options{Subscriptions: []string{sessionA}}).Watch()
		next(t, w)
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantAsked(t, d, "again e1 ")
		h.publish(sessionA, title("the end"))
		for ev := next(t, w); ev.Action != title("the end"); ev = next(t, w) {
			if ev.Type == "session/activeClientSet" {
				t.Error("declared again, although the host had the declarations")
			}
		}
		c.Unsubscribe(sessionA)
		synctest.Wait()
		_, err := h.openEditor("e2", "")
		wantErr(t, err, &canvas.Error{Code: canvas.CodeNotFound})
	})
}

// An instance that is opened too late is closed: the host no longer waits for it.
func TestLateOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, d, _ := provides(t, client.Options{})
		d.hold = make(chan struct{})
		_, err := h.openEditor("e1", "")
		wantErr(t, err, &canvas.Error{Code: canvas.CodeTimeout})
		time.Sleep(time.Second)
		close(d.hold)
		wantAsked(t, d, "open e1 ", "close e1")
		must(h.openEditor("e1", ""))
		wantAsked(t, d, "open e1 ")
	})
}

func TestRequestsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := provides(t, client.Options{})
		h.dial(t, client.Options{ClientID: "view"})
		for _, tc := range []struct {
			client, method, params string
			want                   ahp.Code
		}{
			{"view", "canvasOpen", `{}`, ahp.CodeMethodNotFound},
			{"desk", "resourceWrite", `{}`, ahp.CodeMethodNotFound},
			{"desk", "canvasOpen", `{}`, ahp.CodeInvalidParams},
			{"desk", "canvasOpen", `{"channel":"ahp-session:/b","canvasId":"editor","extensionId":"x","instanceId":"i"}`, ahp.CodeCanvasProvider},
			{"desk", "canvasInvokeAction", `{"channel":"ahp-session:/a","canvasId":"editor","extensionId":"x","instanceId":"i","actionName":"save"}`, ahp.CodeCanvasProvider},
			{"desk", "resourceRead", `{"uri":"ahp-canvas-content:/i/"}`, ahp.CodeNotFound},
			{"desk", "resourceRead", `{"uri":"file:///etc/passwd"}`, ahp.CodeNotFound},
		} {
			_, err := h.server.Call(t.Context(), tc.client, time.Minute, tc.method, ahp.Value(tc.params))
			if e, ok := errors.AsType[*ahp.Error](err); !ok || e.Code != tc.want {
				t.Errorf("%s %s: %v, want %d", tc.method, tc.params, err, tc.want)
			}
		}
		_, err := h.server.Call(t.Context(), "desk", time.Minute, "canvasClose", ahp.Value(`{"channel":"ahp-session:/a","canvasId":"editor","extensionId":"x","instanceId":"i"}`))
		if err != nil {
			t.Errorf("closing a canvas that is not open: %v", err)
		}
	})
}
