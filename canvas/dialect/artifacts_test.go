package dialect_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/dialect"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// artifactStage is a host whose open canvases an editor has as artifacts of their session.
type artifactStage struct {
	t       *testing.T
	version string
	open    map[string]canvas.CanvasState
	states  map[string]any
}

func newArtifactStage(t *testing.T, version string) *artifactStage {
	return &artifactStage{t: t, version: version, open: map[string]canvas.CanvasState{}, states: map[string]any{
		sessionURI:    session.State{Provider: "canvas", Meta: ahp.Value(`{"mine":1}`)},
		"ahp-chat:/s": map[string]any{"modifiedAt": "", "turns": []int{}, "status": 0},
	}}
}

func (s *artifactStage) editor(name string) server.Translator {
	s.t.Helper()
	d, err := dialect.New(dialect.Options{
		Address: func(channel string, _ canvas.CanvasState, _ ws.Grant) string { return "http://g.localhost/" + channel },
		State:   func(channel string) (channels.State, bool) { st, ok := s.open[channel]; return st, ok },
	}).Negotiate(ahp.Value(`{"protocolVersions":["` + s.version + `"],"clientInfo":{"name":"` + name + `"}}`))
	if err != nil {
		s.t.Fatal(err)
	}
	return d.Translator(ws.Grant{})
}

// meta subscribes a client to the session, and returns the _meta that it gets.
func (s *artifactStage) meta(tr server.Translator) string {
	s.t.Helper()
	return string(member(s.t, subscribe(s.t, tr, sessionURI, s.states), "_meta"))
}

// expect fails unless the client received a change of the session's _meta to want.
func (s *artifactStage) expect(e ahp.ActionEnvelope, ok bool, want string) {
	s.t.Helper()
	if tag, _ := ahp.ActionTag(e.Action); !ok || tag != "session/metaChanged" || string(member(s.t, e.Action, "_meta")) != want {
		s.t.Errorf("%s: the client gets %v %s, want %s", s.version, ok, e.Action, want)
	}
}

var laterVersions = []string{"0.9.0", "0.10.0", "1.0.0"}

// TestArtifacts: an editor of each version has the open canvases as artifacts of the
// session, and what actions lead to is what a new client gets.
func TestArtifacts(t *testing.T) {
	for _, version := range laterVersions {
		s, url, title := newArtifactStage(t, version), "x", "Board"
		tr := s.editor("vscode-x")
		if got := s.meta(tr); got != `{"mine":1}` {
			t.Fatalf("%s: without canvases: %s", version, got)
		}
		s.open[canvasURI] = canvas.CanvasState{InstanceID: "c", Availability: session.Ready, URL: &url}
		refs := []session.OpenCanvasRef{{InstanceID: "c", Channel: canvasURI, Title: &title, Availability: session.Ready}, {InstanceID: "gone", Channel: "ahp-canvas:/gone", Availability: session.Stale}}
		changed := session.OpenCanvasesChanged{OpenCanvases: refs}
		want := `{"agentHost/sessionArtifacts":[{"id":"ahp-canvas:/c","type":"website","label":"Board","isArtifact":true,"link":"http://g.localhost/ahp-canvas:/c"}],"mine":1}`
		e, ok := publish(t, tr, sessionURI, "session/openCanvasesChanged", changed)
		s.expect(e, ok, want)
		if _, ok := publish(t, tr, sessionURI, "session/openCanvasesChanged", changed); ok {
			t.Errorf("%s: the client gets what it has", version)
		}
		s.states[sessionURI] = session.State{Provider: "canvas", Meta: ahp.Value(`{"mine":1}`), OpenCanvases: refs}
		if got := s.meta(s.editor("vscode-x")); got != want {
			t.Errorf("%s: a new client has %s", version, got)
		}
		if got := s.meta(s.editor("other")); got != `{"mine":1}` {
			t.Errorf("%s: a client without cards has %s", version, got)
		}
		e, ok = publish(t, tr, sessionURI, "session/metaChanged", session.MetaChanged{Meta: ahp.Value(`{"mine":2}`)})
		s.expect(e, ok, strings.Replace(want, `"mine":1`, `"mine":2`, 1))
		delete(s.open, canvasURI)
		e, ok = publish(t, tr, sessionURI, "session/openCanvasesChanged", session.OpenCanvasesChanged{OpenCanvases: []session.OpenCanvasRef{}})
		s.expect(e, ok, `{"mine":2}`)
	}
}

// TestArtifactsBesideCanvases: from 0.10 on one entry changes the canvases of the chat and
// the artifacts of the session. Both forms have numbers that rise, and the next entry has a
// higher one.
func TestArtifactsBesideCanvases(t *testing.T) {
	for _, version := range laterVersions[1:] {
		s, url := newArtifactStage(t, version), "x"
		tr := s.editor("vscode-x")
		subscribe(t, tr, sessionURI, s.states)
		subscribe(t, tr, chatURI, s.states)
		s.open[canvasURI] = canvas.CanvasState{InstanceID: "c", Availability: session.Ready, URL: &url}
		got := publishAll(t, tr, 2, sessionURI, "session/openCanvasesChanged", session.OpenCanvasesChanged{OpenCanvases: []session.OpenCanvasRef{{InstanceID: "c", Channel: canvasURI, Availability: session.Ready}}})
		got = append(got, publishAll(t, tr, 3, sessionURI, "session/activityChanged", map[string]string{"activity": "x"})...)
		want := []string{"chat/canvasesChanged", "session/metaChanged", "session/activityChanged"}
		if len(got) != len(want) {
			t.Fatalf("%s: the client gets %+v", version, got)
		}
		for i, e := range got {
			if tag, _ := ahp.ActionTag(e.Action); tag != want[i] {
				t.Errorf("%s: entry %d is %s, want %s", version, i, tag, want[i])
			}
			if i > 0 && e.ServerSeq <= got[i-1].ServerSeq {
				t.Errorf("%s: the number after %d is %d", version, got[i-1].ServerSeq, e.ServerSeq)
			}
		}
		if got[0].Channel == got[1].Channel || got[1].Channel != "canvas:/s" {
			t.Errorf("%s: the entries are on %s and %s", version, got[0].Channel, got[1].Channel)
		}
	}
}
