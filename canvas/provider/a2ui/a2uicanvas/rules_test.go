package a2uicanvas_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// TestMembers: an action has five members and an error three, all of them required, in an
// object of exactly two (rule 13). What lacks one raises nothing.
func TestMembers(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form)
		v := b.hello("v")
		stamp := map[string]any{"name": "go", "surfaceId": "one", "sourceComponentId": "root", "timestamp": "2026-02-25T10:40:00Z", "context": map[string]any{}}
		failure := map[string]any{"code": "ODD", "surfaceId": "one", "message": "m"}
		invalid := map[string]any{"code": "VALIDATION_FAILED", "surfaceId": "one", "path": "/a", "message": "m"}
		complete := 0
		for kind, body := range map[string]map[string]any{"action": stamp, "error": failure, "error ": invalid} {
			send := func(version any) []string {
				m := map[string]any{strings.TrimSpace(kind): body}
				if version != nil {
					m["version"] = version
				}
				v.act(string(ahp.MustMarshal(m)), "")
				return v.take()
			}
			complete++
			if got := send("v0.9"); len(got) != 0 || len(b.events("")) != complete {
				t.Errorf("a complete %s was answered by %v", kind, got)
			}
			if got := send(nil); len(got) != 1 || !strings.Contains(got[0], "refused") {
				t.Errorf("%s without version: %v", kind, got)
			}
			for member, value := range body {
				delete(body, member)
				if got := send("v0.9"); len(got) != 1 || !strings.Contains(got[0], "refused") {
					t.Errorf("%s without %q: %v", kind, member, got)
				}
				body[member] = value
			}
		}
		if got := b.events(""); len(got) != complete {
			t.Errorf("%d events, want those of the %d complete messages: %v", len(got), complete, got)
		}
	})
}

// TestOneBadComponent: one bad component of five keeps the whole message away, and the
// error names its place and its id.
func TestOneBadComponent(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form)
		v := b.hello("v")
		text := `{"id":"%s","component":"Text","text":"x"}`
		five := fmt.Sprintf(text+","+text+`,{"id":"third","component":"Text"},`+text+","+text, "a", "b", "d", "e")
		got := b.invoke("", "apply", `{"messages":[{"version":"v0.9","updateComponents":{"surfaceId":"one","components":[`+five+`]}},`+data+`]}`)
		for _, want := range []string{`"applied":1`, `"path":"/updateComponents/components/2`, `\"third\"`, `"components":2`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
		if got := strings.Join(v.take(), ""); strings.Contains(got, "updateComponents") {
			t.Errorf("the View got %s", got)
		}
	})
}

// TestSameIDAgain: a surface can be created again once it was deleted, in one list too.
func TestSameIDAgain(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", `[`+surfaceOne+`,{"version":"v0.9","deleteSurface":{"surfaceId":"one"}},`+surfaceOne+`]`)
		if got := b.invoke("", "get_surfaces", `{}`); strings.Count(got, "createSurface") != 1 {
			t.Errorf("surfaces %s", got)
		}
	})
}

// TestBadJSON: JSON with a repeated name, or in another encoding than UTF-8, reaches neither
// the surfaces nor an agent.
func TestBadJSON(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form)
		for _, input := range []string{`{"messages":[],"messages":[]}`, "{\"messages\":[{\"version\":\"v0.9\",\"deleteSurface\":{\"surfaceId\":\"one\xff\"}}]}"} {
			_, err := b.Canvases.Invoke(context.Background(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "i", ActionName: "apply", Input: ahp.Value(input)})
			if err == nil {
				t.Errorf("%q was applied", input)
			}
		}
		if got := b.invoke("", "get_surfaces", `{}`); strings.Count(got, "createSurface") != 1 {
			t.Errorf("surfaces %s", got)
		}
	})
}
