package canvastest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Config describes a provider for [TestProvider].
type Config struct {
	Provider    canvas.Provider    // the provider to test
	Declaration canvas.Declaration // a canvas that it opens
	// Input and Other are two different inputs of the canvas; nil if it takes none.
	Input, Other ahp.Value
	// Kept is the input that the host keeps after Other (canvas.Opened); nil is Other.
	Kept ahp.Value
	// Action is a declared action that succeeds with ActionInput, any number of
	// times; "" if the canvas has none.
	Action      string
	ActionInput ahp.Value
	// Path is the path of some content; "" if the canvas has none.
	Path string
	// Decisions are messages of Views that only a person may send (see
	// canvas.View.MustBePerson); nil if the canvas has none. Each is sent to a new instance.
	Decisions []string
}

// suite is a Config on a new host.
type suite struct {
	Config
	*Host
	t   *testing.T
	reg canvas.Registration
}

// TestProvider checks that a provider fulfills the contracts of canvas.Provider,
// canvas.Instance and the optional interfaces.
func TestProvider(t *testing.T, c Config) {
	for _, test := range []struct {
		name string
		run  func(*suite)
	}{
		{"opens", (*suite).opens},
		{"opens many side by side", (*suite).opensMany},
		{"opens again with another input", (*suite).opensAgain},
		{"answers its action", (*suite).invokes},
		{"gives up with its context", (*suite).givesUp},
		{"serves content", (*suite).reads},
		{"survives messages of Views", (*suite).receives},
		{"refuses decisions that are no person's", (*suite).refusesDecisions},
		{"reconnects", (*suite).reconnects},
		{"closes", (*suite).closes},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &suite{Config: c, Host: New(t, engine.Options{}), t: t}
			s.reg = s.Register(canvas.Extension{ID: "suite", Name: "Suite"}, c.Provider, c.Declaration)
			test.run(s)
		})
	}
}

func (s *suite) open(id string) canvas.OpenCanvas {
	s.t.Helper()
	return s.Open(s.Declaration.CanvasID, id, s.Input)
}

func (s *suite) opens() {
	o := s.open("one")
	if o.Availability != session.Ready || o.Channel == "" {
		s.t.Errorf("opened as %+v", o)
	}
	if again := s.open("one"); again.Channel != o.Channel {
		s.t.Errorf("opening again gave channel %s, was %s", again.Channel, o.Channel)
	}
	v := s.Connect("view")
	if snap := v.Subscribe(o.Channel); snap.State == nil {
		s.t.Error("the channel has no state")
	}
}

func (s *suite) opensMany() {
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			id := fmt.Sprintf("panel-%d", n)
			_, err := s.Canvases.Open(s.t.Context(), canvas.OpenArgs{Session: Session, CanvasID: s.Declaration.CanvasID, InstanceID: id, Input: s.Input})
			if err != nil {
				s.t.Errorf("%s: %v", id, err)
			}
		})
	}
	wg.Wait()
	if open, err := s.Canvases.ListOpen(Session); err != nil || len(open) != 16 {
		s.t.Errorf("%d are open, %v", len(open), err)
	}
}

func (s *suite) opensAgain() {
	if s.Other == nil {
		s.t.Skip("the canvas takes no input")
	}
	first := s.open("one")
	second := s.Open(s.Declaration.CanvasID, "one", s.Other)
	if second.Channel != first.Channel {
		s.t.Errorf("another input opened channel %s, was %s", second.Channel, first.Channel)
	}
	want := s.Other
	if s.Kept != nil {
		want = s.Kept
	}
	if st := s.State(first.Channel); !ahp.Equal(st.Input, want) {
		s.t.Errorf("the state's input is %s", st.Input)
	}
	s.act("one")
}

func (s *suite) act(id string) ahp.Value {
	s.t.Helper()
	if s.Action == "" {
		return nil
	}
	v, err := s.Canvases.Invoke(s.t.Context(), canvas.InvokeArgs{Session: Session, InstanceID: id, ActionName: s.Action, Input: s.ActionInput})
	if err != nil {
		s.t.Errorf("%s: %v", s.Action, err)
	}
	return v
}

func (s *suite) invokes() {
	s.open("one")
	s.act("one")
	s.act("one")
	_, err := s.Canvases.Invoke(s.t.Context(), canvas.InvokeArgs{Session: Session, InstanceID: "one", ActionName: "suite-no-such-action"})
	if !errors.Is(err, &canvas.Error{Code: canvas.CodeNoHandler}) {
		s.t.Errorf("an unknown action: %v", err)
	}
}

// givesUp: an open whose context is canceled must return, and must not prevent the next.
func (s *suite) givesUp() {
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	begun := time.Now()
	_, err := s.Canvases.Open(ctx, canvas.OpenArgs{Session: Session, CanvasID: s.Declaration.CanvasID, InstanceID: "one", Input: s.Input})
	if err == nil {
		s.t.Error("opened although the context was canceled")
	}
	if took := time.Since(begun); took > 5*time.Second {
		s.t.Errorf("took %v to give up", took)
	}
	s.open("one")
}

func (s *suite) reads() {
	if s.Path == "" {
		s.t.Skip("the canvas has no content")
	}
	o := s.open("one")
	v := s.Connect("view")
	v.Subscribe(o.Channel)
	read := func(path, etag string) (canvas.CanvasReadResourceResult, error) {
		p := canvas.CanvasReadResourceParams{Channel: o.Channel, URI: canvas.ContentURL("one", path)}
		if etag != "" {
			p.Meta = map[string]ahp.Value{canvas.MetaETag: ahp.MustMarshal(etag)}
		}
		var result canvas.CanvasReadResourceResult
		raw, err := s.Canvases.Content.CanvasReadResource(s.t.Context(), v.Sub, p)
		if err == nil {
			err = ahp.Unmarshal(raw, &result)
		}
		return result, err
	}
	r, err := read(s.Path, "")
	if err != nil || len(r.Contents) != 1 || (r.Contents[0].Text == nil) == (r.Contents[0].Blob == nil) {
		s.t.Fatalf("read %s: %+v, %v", s.Path, r, err)
	}
	if _, err := read(strings.TrimSuffix(s.Path, "/")+"/suite/no/such/file", ""); !errors.Is(err, ahp.ErrNotFound) {
		s.t.Errorf("a file that does not exist: %v", err)
	}
	var etag string
	if raw := r.Meta[canvas.MetaETag]; raw != nil && ahp.Unmarshal(raw, &etag) == nil {
		if again, err := read(s.Path, etag); err != nil || len(again.Contents) != 0 {
			s.t.Errorf("read with the validator that it gave: %d contents, %v", len(again.Contents), err)
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := read(s.Path, ""); err != nil {
				s.t.Errorf("read at the same time: %v", err)
			}
		})
	}
	s.act("one")
	wg.Wait()
}

func (s *suite) receives() {
	o := s.open("one")
	v := s.Connect("view")
	v.Subscribe(o.Channel)
	for _, payload := range []string{
		`null`, `0`, `"hello"`, `[]`, `{}`, `{"a":{"b":[null,1e400]}}`,
		`{"x-ahp":"view/1","type":"hello"}`, `{"x-ahp":"view/1","type":"result","id":99}`,
		strings.Repeat("[", 60) + strings.Repeat("]", 60), `"` + strings.Repeat("x", 60<<10) + `"`,
	} {
		v.Say(o.Channel, payload)
	}
	v.Leave()
	s.act("one")
	if st := s.State(o.Channel); st.Availability != session.Ready {
		s.t.Errorf("it is %s now", st.Availability)
	}
}

// refusesDecisions: the View of an agent's connection learns that a person is required, and
// that of a person does not.
func (s *suite) refusesDecisions() {
	if s.Decisions == nil {
		s.t.Skip("the canvas has no decisions")
	}
	for n, payload := range s.Decisions {
		o := s.open(fmt.Sprintf("decision-%d", n))
		for _, role := range []string{access.Agent, access.View} {
			v := s.Connect(fmt.Sprintf("%s-%d", role, n))
			v.Sub.Role = role
			v.Subscribe(o.Channel)
			v.Say(o.Channel, payload)
			answer := v.Await("an answer to "+payload, func(e ahp.ActionEnvelope) bool {
				return e.Origin == nil && strings.HasPrefix(string(e.Action), `{"type":"canvas/message"`)
			})
			refused := strings.Contains(string(answer.Action), `"`+canvas.ErrNotAPerson.Code+`"`)
			if refused != (role == access.Agent) {
				s.t.Errorf("%s from the role %s: %s", payload, role, answer.Action)
			}
			v.Leave()
		}
	}
}

// reconnects: a provider that was unreachable opens its instances again.
func (s *suite) reconnects() {
	o := s.open("one")
	s.act("one")
	v := s.Connect("view")
	v.Subscribe(o.Channel)
	s.reg.SetReachable(false)
	if st := s.State(o.Channel); st.Availability != session.Stale {
		s.t.Fatalf("it is %s while the provider is unreachable", st.Availability)
	}
	s.reg.SetReachable(true)
	v.Await("ready", func(e ahp.ActionEnvelope) bool {
		var u canvas.Updated
		return ahp.Unmarshal(e.Action, &u) == nil && u.Availability != nil && *u.Availability == session.Ready
	})
	s.act("one")
}

func (s *suite) closes() {
	o := s.open("one")
	if err := s.Canvases.Close(s.t.Context(), Session, "one"); err != nil {
		s.t.Fatal(err)
	}
	if _, ok := s.Log.State(o.Channel); ok {
		s.t.Error("the channel is still there")
	}
	if err := s.Canvases.Close(s.t.Context(), Session, "one"); !errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}) {
		s.t.Errorf("closing it again: %v", err)
	}
	if again := s.open("one"); again.Channel == o.Channel {
		s.t.Error("opening after a close gave the old channel")
	}
	s.act("one")
}
