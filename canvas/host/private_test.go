package host_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
)

// shootings counts the pictures that are taken.
type shootings struct{ n int }

func (s *shootings) Shoot(context.Context, canvas.ShotArgs) (canvas.Shot, error) {
	s.n++
	return canvas.Shot{PNG: []byte("png"), Sight: canvas.Sight{Outline: "secret"}}, nil
}

// TestPrivate: a person hides a canvas from looks and shows it again; the connection of an
// agent cannot, and a look at a private canvas asks no page and takes no picture.
func TestPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser := &shootings{}
		e := newEnvWith(t, browser)
		defer e.stop()
		b := board.New()
		if _, err := e.host.Add(b); err != nil {
			t.Fatal(err)
		}
		open, err := e.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "board", InstanceID: "one", Input: ahp.Value(`{"title":"B"}`)})
		if err != nil {
			t.Fatal(err)
		}
		args := canvas.LookArgs{Session: host.DefaultSession, InstanceID: "one"}
		set := func(token, private string) string {
			return e.request(token, open.Channel, open.Channel, "x-ahp-canvas/setPrivate", `"isPrivate":`+private)
		}
		for _, token := range []string{"agent", "look", "read"} {
			if got := set(token, "true"); !strings.Contains(got, "person_required") && !strings.Contains(got, "role_required") {
				t.Errorf("the role %s: %s", token, got)
			}
		}
		if got := set("view", "true"); !strings.Contains(got, `"isPrivate":true`) || !strings.Contains(got, `"result":null`) {
			t.Fatalf("a person: %s", got)
		}
		l, err := e.host.Look(t.Context(), args)
		if err != nil || !l.IsPrivate || l.Outline != "" || l.Picture != nil || l.NoPicture == "" || browser.n != 0 {
			t.Errorf("a look at a private canvas: %+v, %v, %d pictures", l, err, browser.n)
		}
		if list, err := e.host.Canvases().ListOpen(host.DefaultSession); err != nil || !list[0].IsPrivate {
			t.Errorf("listed as %+v, %v", list, err)
		}
		if got := set("view", "false"); !strings.Contains(got, `"isPrivate":false`) {
			t.Fatalf("a person: %s", got)
		}
		if l, err = e.host.Look(t.Context(), args); err != nil || l.IsPrivate || browser.n != 1 {
			t.Errorf("a look afterwards: %+v, %v, %d pictures", l, err, browser.n)
		}
	})
}

// TestPeople: only who is subscribed to the session learns who else has it open, and a name is
// one line that is not too long.
func TestPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t)
		defer e.stop()
		long := strings.Repeat("x", 50)
		if got := e.request("view", host.DefaultSession, "", "x-ahp-canvas/people", `"name":"Ann"`); !strings.Contains(got, "-32008") {
			t.Errorf("without a subscription: %s", got)
		}
		got := e.request("view", host.DefaultSession, host.DefaultSession, "x-ahp-canvas/people", `"name":"A\nn\u202en `+long+`"`)
		if want := `{"people":[{"name":"A nn ` + long[:34] + `…","role":"view","you":true}]}`; !strings.Contains(got, want) {
			t.Errorf("people: %s, want %s", got, want)
		}
		if got := e.request("agent", host.DefaultSession, host.DefaultSession, "x-ahp-canvas/people", `"name":"Bot"`); !strings.Contains(got, `{"people":[]}`) {
			t.Errorf("an agent is among the people: %s", got)
		}
	})
}
