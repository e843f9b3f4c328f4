package a2uicanvas_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/remote"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// drawing is an agent that answers every turn, the first one with surfaces: NAME-sync
// syncs, NAME-quiet does not, and NAME-dead is deleted again.
func drawing(name string) *actor {
	a := &actor{name: name}
	a.reply = func(t a2ui.Turn) []a2ui.Reply {
		if t.Text != "begin" {
			return []a2ui.Reply{{State: "input-required", Text: "Heard you."}}
		}
		const draw = `{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":[
			{"version":"v0.9","createSurface":{"surfaceId":"NAME-sync","catalogId":"CATALOG","sendDataModel":true}},
			{"version":"v0.9","updateComponents":{"surfaceId":"NAME-sync","components":[{"id":"root","component":"Column","children":["in","go"]},{"id":"in","component":"TextField","label":"Secret","value":{"path":"/secret"}},
				{"id":"go","component":"Button","child":"label","action":{"event":{"name":"go","context":{"s":{"path":"/secret"}}}}},{"id":"label","component":"Text","text":"Go"}]}},
			{"version":"v0.9","updateDataModel":{"surfaceId":"NAME-sync","value":{"secret":"of NAME"}}},
			{"version":"v0.9","createSurface":{"surfaceId":"NAME-quiet","catalogId":"CATALOG"}},
			{"version":"v0.9","updateComponents":{"surfaceId":"NAME-quiet","components":[{"id":"root","component":"Text","text":"Quiet"}]}},
			{"version":"v0.9","createSurface":{"surfaceId":"NAME-dead","catalogId":"CATALOG","sendDataModel":true}},
			{"version":"v0.9","deleteSurface":{"surfaceId":"NAME-dead"}}]}`
		part := strings.NewReplacer("NAME", name, "CATALOG", a2ui.BasicCatalogID).Replace(draw)
		return []a2ui.Reply{{State: "input-required", ContextID: "c-" + name, Parts: []ahp.Value{ahp.Value(part)}}}
	}
	return a
}

// TestNoLeak: two remote agents, and a page of one that adds everything it knows of the
// other to an action, an error and a text. Each agent receives its own synced surfaces
// alone, and the session's agent receives nothing that people enter.
func TestNoLeak(t *testing.T) {
	alpha, beta := drawing("alpha"), drawing("beta")
	s := newStage(t, alpha, beta)
	b := webtest.Start(t)
	s.open("a2ui-beta", "beta", `{"text":"begin"}`)
	s.open("a2ui-alpha", "alpha", `{"text":"begin"}`)
	tab := b.Open(t, s.host.Link("ahp-session:/default"))
	var v *screen
	for _, frame := range tab.Frames(t, 2, webtest.ContentFrame) {
		p := &screen{t: t, tab: tab, frame: frame}
		p.wait(`says().includes("Quiet")`)
		if p.eval(`!!at("[aria-label=alpha-sync]")`) == "true" {
			v = p
		}
	}
	v.wait(`at(".goes").textContent === "What you enter here goes to alpha."`)
	before := beta.seen()
	v.do(`w.hostile = (parts) => w.sent = w.eval('import("/.ahp/canvas.js")').then(({ send }) => send({ parts, metadata: { a2uiClientDataModel: { version: "v0.9", surfaces: {
		"alpha-sync": { secret: "mine" }, "alpha-quiet": { secret: "quiet" }, "alpha-dead": { secret: "dead" }, "beta-sync": { secret: "stolen" }, other: { secret: "other" } } } } }))`)
	act := func(body string) string {
		return `[{ kind: "data", metadata: { mimeType: "application/json+a2ui" }, data: [{ version: "v0.9", ` + body + ` }] }]`
	}
	const stamp = `sourceComponentId: "go", timestamp: "2026-02-25T10:40:00Z", context: {}`
	for n, parts := range []string{
		act(`action: { name: "go", surfaceId: "alpha-sync", ` + stamp + ` }`),
		act(`error: { code: "ODD", surfaceId: "alpha-sync", message: "odd" }`),
		`[{ kind: "text", text: "okay, submit" }]`,
	} {
		v.do(`w.hostileParts = ` + parts)
		v.do(`w.hostile(w.hostileParts)`)
		for alphaTurns(alpha) < n+2 {
			v.wait(`true`) // a round trip to the page
		}
	}
	v.do(`w.hostile(` + act(`action: { name: "go", surfaceId: "beta-sync", `+stamp+` }`) + `)`)
	v.wait(`at("#notices").textContent.includes("this canvas has no surface")`)
	alpha.mu.Lock()
	turns := alpha.turns
	alpha.mu.Unlock()
	for _, turn := range turns[1:] {
		if want := `{"version":"v0.9","surfaces":{"alpha-sync":{"secret":"mine"}}}`; !ahp.Equal(turn.Model, ahp.Value(want)) {
			t.Errorf("alpha received the model %s, want %s", turn.Model, want)
		}
	}
	for _, secret := range []string{"stolen", "quiet\"", "dead\"", "other"} {
		if strings.Contains(alpha.seen(), secret) {
			t.Errorf("alpha received %q: %s", secret, alpha.seen())
		}
	}
	if after := beta.seen(); after != before {
		t.Errorf("beta received %s, had %s", after, before)
	}
	for _, e := range s.events() {
		if strings.Contains(e, "mine") || strings.Contains(e, "dataModel") {
			t.Errorf("the session's agent received %s", e)
		}
	}
}

func alphaTurns(a *actor) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.turns)
}

// TestRemoteAgent: an agent made with the official A2A SDK, in both versions, draws into
// the page: the person writes, fills the form in, books, and writes again.
func TestRemoteAgent(t *testing.T) {
	dir := "../../../../testcases/typescript"
	_, err := os.Stat(dir + "/node_modules/a2a-v1")
	if _, node := exec.LookPath("node"); node != nil || err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node, or the packages of testcases/typescript, are missing")
		}
		t.Skip("needs node, and 'npm ci' in testcases/typescript")
	}
	for _, version := range []string{"v0", "v1"} {
		t.Run(version, func(t *testing.T) {
			cmd := exec.Command("node", "a2a.mjs", version, "stream")
			cmd.Dir, cmd.Stderr = dir, os.Stderr
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
			line := make([]byte, 200)
			n, _ := out.Read(line)
			var first struct {
				Base string `json:"base"`
			}
			if err := ahp.Unmarshal(line[:n], &first); err != nil {
				t.Fatal(err)
			}
			drained := make(chan struct{})
			go func() { defer close(drained); _, _ = io.Copy(io.Discard, out) }()
			t.Cleanup(func() { _ = in.Close(); <-drained })
			a, err := remote.New(remote.Options{Name: "finder", URL: first.Base})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = a.Close() })
			bookRemotely(t, a)
		})
	}
}

func bookRemotely(t *testing.T, a a2ui.Agent) {
	s := newStage(t, a)
	s.open("a2ui-finder", "finder", "")
	v := s.screen(webtest.Start(t))
	for _, name := range []string{"Grace", "Barbara"} { // the second booking is another task of the same conversation
		v.do(`(at("#line").value = "find me a table", at("#send").click())`)
		v.wait(`at("#status").textContent === "finder waits for you." && at("#said").textContent.includes("Please fill this in.")`)
		v.wait(`at(".goes").textContent === "What you enter here goes to finder."`)
		v.do(`type("input[type=text]", "` + name + `")`)
		v.do(`button("Book").click()`)
		v.wait(`says() === "Booked for ` + name + `" && at("#status").hidden && at("#said").textContent.includes("Done.")`)
		v.shot("remote-" + name)
	}
	for _, e := range s.events() {
		if strings.Contains(e, "Grace") {
			t.Errorf("the session's agent received %s", e)
		}
	}
}
