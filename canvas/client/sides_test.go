package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/testcases/demo"
)

// side is a host that has a provider's canvases, and a View.
type side struct {
	t    *testing.T
	h    *testHost
	view *client.Client
	cut  func() // makes the provider unreachable
	back func() // makes it reachable again
	log  []string
}

func inHost(t *testing.T, p canvas.Provider, set ...canvas.Declaration) *side {
	h := newHost(t, channels.Options{})
	reg := must(h.canvases.Register(canvas.Extension{ID: "suite"}, p, set...))
	return &side{
		t: t, h: h, view: h.dial(t, client.Options{ClientID: "view", Subscriptions: []string{sessionA}}),
		cut: func() { reg.SetReachable(false) }, back: func() { reg.SetReachable(true) },
	}
}

func inClient(t *testing.T, p canvas.Provider, set ...canvas.Declaration) *side {
	h := newHost(t, channels.Options{})
	c := h.dial(t, client.Options{ClientID: "desk"})
	if err := c.Provide(t.Context(), sessionA, "Desk", p, set...); err != nil {
		t.Fatal(err)
	}
	wires := h.net.takeWires()
	return &side{
		t: t, h: h, view: h.dial(t, client.Options{ClientID: "view", Subscriptions: []string{sessionA}}),
		cut: func() { cutAll(wires) },
		back: func() {
			if err := c.Reconnect(t.Context()); err != nil {
				t.Error(err)
			}
		},
	}
}

func (s *side) note(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

// open opens the instance and notes what people see of it.
func (s *side) open(canvasID, input string) (channel string) {
	args := canvas.OpenArgs{Session: sessionA, CanvasID: canvasID, InstanceID: "i"}
	if input != "" {
		args.Input = ahp.Value(input)
	}
	o, err := s.h.canvases.Open(s.t.Context(), args)
	s.note("open %s: %q %q %s %s %v", input, o.Title, o.Status, o.URL, o.Availability, code(err))
	synctest.Wait()
	return o.Channel
}

func (s *side) invoke(action, input string) {
	v, err := s.h.canvases.Invoke(s.t.Context(), canvas.InvokeArgs{Session: sessionA, InstanceID: "i", ActionName: action, Input: ahp.Value(input)})
	s.note("invoke %s: %s %s", action, v, code(err))
}

func (s *side) read(channel, path string) {
	c, err := s.view.ReadResource(s.t.Context(), channel, canvas.ContentURL("i", path))
	s.note("read %s: %q %s %v", path, c.Data, c.ContentType, err != nil)
}

func code(err error) string {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

// A provider behaves alike in a host and in a client.
func TestBothSides(t *testing.T) {
	var logs [2][]string
	for n, in := range []func(*testing.T, canvas.Provider, ...canvas.Declaration) *side{inHost, inClient} {
		synctest.Test(t, func(t *testing.T) {
			s := in(t, demo.Provider{}, demo.Declaration)
			logs[n] = s.play()
		})
	}
	if diff := cmp.Diff(logs[0], logs[1]); diff != "" {
		t.Errorf("the client (+) differs from the host (-):\n%s", diff)
	}
	if all := strings.Join(logs[0], "\n"); !strings.Contains(all, `View: {"type":"canvas/message","payload":{"say":"hi"}}`) || !strings.Contains(all, `Counter 12`) {
		t.Errorf("the provider did not do what it can:\n%s", all)
	}
}

func (s *side) play() []string {
	channel := s.open("counter", `{"start":1}`)
	must(s.view.Subscribe(s.t.Context(), channel))
	w := s.view.Watch(channel)
	defer w.Close()
	s.invoke("add", `{"by":2}`)
	s.invoke("add", `{"by":0}`) // changes nothing
	s.invoke("say", `{"text":"hi"}`)
	s.invoke("fail", `{}`)
	s.invoke("none", `{}`)
	s.invoke("clear", `{}`)
	s.invoke("clear", `{}`)
	s.read(channel, "/")
	s.read(channel, "/logo.png")
	s.read(channel, "/none")
	s.open("counter", `{"start":9}`)
	s.invoke("add", `{"by":1}`)
	s.note("message: %v", s.view.Message(s.t.Context(), channel, map[string]int{"other": 1}))
	s.cut()
	synctest.Wait()
	s.note("message: %v", s.view.Message(s.t.Context(), channel, 1) != nil)
	s.back()
	synctest.Wait()
	s.invoke("add", `{"by":3}`)
	s.note("close: %v", s.h.canvases.Close(s.t.Context(), sessionA, "i"))
	s.note("close: %v", code(s.h.canvases.Close(s.t.Context(), sessionA, "i")))
	s.open("counter", "")
	synctest.Wait()
	s.noteEvents(w)
	return s.log
}

// noteEvents notes what a View saw of the canvas.
func (s *side) noteEvents(w *client.Watch) {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
	defer cancel()
	for ev, err := range w.All(ctx) {
		if err == nil && ev.Kind == client.EventAction {
			s.note("View: %s", ev.Raw)
		}
	}
}

// A bundled canvas works in a client: agents change it, Views receive its states and
// change it, and it keeps its value over a lost connection.
func TestBoardInAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := inClient(t, board.New())
		channel := s.open(board.CanvasID, `{"title":"Trip"}`)
		must(s.view.Subscribe(t.Context(), channel))
		w := s.view.Watch(channel)
		defer w.Close()
		s.invoke("add_card", `{"list":"todo","title":"Pack"}`)
		say := func(payload string) {
			t.Helper()
			if err := s.view.Message(t.Context(), channel, ahp.Value(payload)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		say(`{"sample":"hello"}`)
		say(`{"sample":"do","ref":1,"action":"add_card","input":{"list":"doing","title":"Book"}}`)
		s.cut()
		synctest.Wait()
		s.back()
		synctest.Wait()
		say(`{"sample":"hello"}`)
		s.read(channel, "/")
		s.noteEvents(w)
		all := strings.Join(s.log, "\n")
		for _, want := range []string{
			`open {"title":"Trip"}: "Trip"`, `invoke add_card: {"card":{"id":`, `"sample":"state","revision":2,`, `"sample":"done","ref":1,`,
			`"sample":"state","revision":3,`, `"availability":"ready"`, `read /: "<!doctype html>`,
		} {
			if !strings.Contains(all, want) {
				t.Errorf("no %s in\n%s", want, all)
			}
		}
		if n := strings.Count(all, `"sample":"state","revision":3,`); n != 2 { // the change, and the answer after the resume
			t.Errorf("%d states of revision 3 in\n%s", n, all)
		}
	})
}
