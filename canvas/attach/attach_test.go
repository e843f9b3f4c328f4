package attach_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// provider is a canvas that remembers what Views say, answers "ping" and has one file.
type provider struct {
	handle *canvas.Handle
	heard  []string
}

func (p *provider) Open(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	p.handle = h
	return canvas.Opened{Instance: p, URL: canvas.ContentURL(req.InstanceID, "/"), Title: "First"}, nil
}

func (p *provider) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }
func (p *provider) Close(context.Context) error                                  { return nil }

func (p *provider) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	p.heard = append(p.heard, fmt.Sprintf("%s %s %s", from.ClientID, from.Role, payload))
	if string(payload) == `"ping"` {
		_ = p.handle.PostTo(ctx, from, ahp.Value(`"pong"`))
	}
}

func (p *provider) ViewGone(from canvas.View) { p.heard = append(p.heard, from.ClientID+" gone") }

func (p *provider) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	switch {
	case req.Path.String() == "/":
		if req.ETag == "v1" {
			return canvas.Content{NotModified: true}, nil
		}
		return canvas.Content{Data: []byte("<p>Hello"), ContentType: "text/html", ETag: "v1"}, nil
	case req.Path.String() == "/dot.png":
		return canvas.Content{Data: []byte{0x89, 'P', 0xff}}, nil
	}
	return canvas.Content{}, ahp.ErrNotFound
}

func newHost(t *testing.T) (*canvastest.Host, *provider, canvas.OpenCanvas, attach.Host) {
	t.Helper()
	h, p := canvastest.New(t, engine.Options{}), &provider{}
	h.Register(canvas.Extension{ID: "test"}, p, canvas.Declaration{CanvasID: "one", DisplayName: "One", Description: "One."})
	return h, p, h.Open("one", "i", nil), attach.Host{Log: h.Log, Content: h.Canvases.Content}
}

func attached(t *testing.T, at attach.Host, a attach.Args) *attach.View {
	t.Helper()
	v, err := attach.Attach(at, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// next returns what a View receives, as text.
func next(t *testing.T, v *attach.View) string {
	t.Helper()
	synctest.Wait()
	h, ok, err := v.Poll()
	switch {
	case err != nil:
		return "error " + err.Error()
	case !ok:
		return ""
	case h.State != nil:
		return "title " + *h.State.Title
	}
	return string(h.Payload)
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOrder: a View receives messages and states in the order of the log, as a page does, and
// only what is for it.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, p, o, at := newHost(t)
		v, other := attached(t, at, attach.Args{Channel: o.Channel, ClientID: "chat:1"}), attached(t, at, attach.Args{Channel: o.Channel, ClientID: "chat:2"})
		page := h.Connect("page")
		page.Subscribe(o.Channel)
		want(t, *v.State().Title, "First")
		if err := v.Say(ahp.Value(`"ping"`)); err != nil {
			t.Fatal(err)
		}
		want(t, next(t, v), `"pong"`)
		want(t, next(t, v), "")
		for i := range 3 {
			if err := p.handle.Post(t.Context(), ahp.MustMarshal(i)); err != nil {
				t.Fatal(err)
			}
			if err := p.handle.SetTitle(t.Context(), fmt.Sprint("T", i)); err != nil {
				t.Fatal(err)
			}
		}
		for _, v := range []*attach.View{v, other} {
			for i := range 3 {
				want(t, next(t, v), fmt.Sprint(i))
				want(t, next(t, v), fmt.Sprint("title T", i))
				want(t, *v.State().Title, fmt.Sprint("T", i))
			}
			want(t, next(t, v), "")
		}
		if n := len(page.Take()); n != 6 {
			t.Errorf("the page received %d entries, want 6", n)
		}
		want(t, strings.Join(p.heard, ";"), `chat:1 view "ping"`)
	})
}

// TestRefused: what a page may not say, a View may not say, and learns why.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, o, at := newHost(t)
		v := attached(t, at, attach.Args{Channel: o.Channel, ClientID: "chat:1"})
		if err := v.Say(ahp.MustMarshal(strings.Repeat("x", 64<<10))); err == nil || !strings.Contains(err.Error(), "65536") {
			t.Errorf("a message that is too long: %v", err)
		}
		if err := v.Say(ahp.Value(`"after"`)); err != nil {
			t.Error(err)
		}
		reader := attached(t, at, attach.Args{Channel: o.Channel, ClientID: "chat:2", Role: "read"})
		if err := reader.Say(ahp.Value(`"me too"`)); err == nil {
			t.Error("a View that only reads said something")
		}
		synctest.Wait()
		want(t, strings.Join(p.heard, ";"), `chat:1 view "after"`)
	})
}

// TestGone: the provider learns that a View was closed, once, and a View that its canvas was
// closed. A canvas that is not open has no Views.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, p, o, at := newHost(t)
		v, stays := attached(t, at, attach.Args{Channel: o.Channel, ClientID: "chat:1"}), attached(t, at, attach.Args{Channel: o.Channel, ClientID: "chat:2"})
		v.Close()
		v.Close()
		synctest.Wait()
		want(t, strings.Join(p.heard, ";"), "chat:1 gone")
		if err := v.Say(ahp.Value("1")); err == nil {
			t.Error("a closed View said something")
		}
		ended := make(chan error, 1)
		go func() { _, err := stays.Next(context.Background()); ended <- err }()
		if err := h.Canvases.Close(t.Context(), canvastest.Session, o.InstanceID); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, attach.ErrClosed) {
			t.Errorf("the canvas was closed: %v", err)
		}
		if _, err := attach.Attach(at, attach.Args{Channel: o.Channel}); !errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}) {
			t.Errorf("attached to a closed canvas: %v", err)
		}
		if _, err := attach.Attach(at, attach.Args{Channel: canvastest.Session}); !errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}) {
			t.Errorf("attached to a session: %v", err)
		}
	})
}

// TestOverflow: a View that takes nothing ends, and holds nothing.
func TestOverflow(t *testing.T) {
	for name, a := range map[string]attach.Args{"count": {Count: 3}, "bytes": {Bytes: 2 << 10}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, p, o, at := newHost(t)
				a.Channel, a.ClientID = o.Channel, "chat:1"
				v := attached(t, at, a)
				post := func(n int) {
					for range n {
						if err := p.handle.Post(t.Context(), ahp.MustMarshal(strings.Repeat("x", 400))); err != nil {
							t.Fatal(err)
						}
					}
				}
				post(3)
				synctest.Wait()
				for range 3 {
					if _, ok, err := v.Poll(); !ok || err != nil {
						t.Fatalf("within the limit: %v", err)
					}
				}
				post(8)
				synctest.Wait()
				if _, _, err := v.Poll(); !errors.Is(err, attach.ErrOverflow) {
					t.Errorf("beyond the limit: %v", err)
				}
				if err := v.Say(ahp.Value("1")); !errors.Is(err, attach.ErrOverflow) {
					t.Errorf("said after the end: %v", err)
				}
			})
		})
	}
}

// TestNext: Next waits for an entry, and ends with its context.
func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, o, at := newHost(t)
		v := attached(t, at, attach.Args{Channel: o.Channel, ClientID: "chat:1"})
		if err := v.Say(ahp.Value(`"quiet"`)); err != nil { // its echo is no entry
			t.Fatal(err)
		}
		begun := time.Now()
		time.AfterFunc(5*time.Second, func() { _ = p.handle.Post(context.Background(), ahp.Value("1")) })
		h, err := v.Next(t.Context())
		if err != nil || string(h.Payload) != "1" || time.Since(begun) != 5*time.Second {
			t.Errorf("received %s, %v after %v", h.Payload, err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := v.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context ended: %v", err)
		}
	})
}

// TestRead: a View reads its canvas's content as a page does.
func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, o, at := newHost(t)
		v := attached(t, at, attach.Args{Channel: o.Channel, ClientID: "chat:1"})
		root, err := canvas.ParseContentPath("/")
		if err != nil {
			t.Fatal(err)
		}
		c, err := v.Read(t.Context(), root, "")
		if err != nil || string(c.Data) != "<p>Hello" || c.ETag != "v1" || c.ContentType != "text/html" {
			t.Errorf("read %+v, %v", c, err)
		}
		if c, err = v.Read(t.Context(), root, "v1"); err != nil || !c.NotModified {
			t.Errorf("read again %+v, %v", c, err)
		}
		dot, _ := canvas.ParseContentPath("/dot.png")
		if c, err = v.Read(t.Context(), dot, ""); err != nil || string(c.Data) != "\x89P\xff" || c.ContentType != "image/png" {
			t.Errorf("read %+v, %v", c, err)
		}
		absent, _ := canvas.ParseContentPath("/absent")
		if _, err = v.Read(t.Context(), absent, ""); !errors.Is(err, ahp.ErrNotFound) {
			t.Errorf("an absent file: %v", err)
		}
		v.Close()
		if _, err = v.Read(t.Context(), root, ""); !errors.Is(err, ahp.ErrNotFound) {
			t.Errorf("a closed View read: %v", err)
		}
	})
}
