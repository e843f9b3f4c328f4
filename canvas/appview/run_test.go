package appview_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestRandomRun: an agent, two chats that lose and repeat answers, and our page work on one
// board at random; afterwards all of them show what a model has.
func TestRandomRun(t *testing.T) {
	t.Parallel()
	steps := 24
	if os.Getenv("AHP_LONG") == "1" {
		steps = 500
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	c := newChats(t)
	b := webtest.Start(t)
	settings := object{"lose": 0.1, "repeat": 0.1}
	one, two := c.chat(t, b, settings), c.chat(t, b, settings)
	args := object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}}
	open(t, one, args)
	f := inner(t, one)
	open(t, two, args)
	g := inner(t, two)
	page := b.Open(t, c.link).Frames(t, 1, webtest.ContentFrame)[0]
	places := map[string]struct {
		page *webtest.Page
		in   string // evaluates an expression in the board's document
	}{
		"the first chat": {f, `(() => %s)()`}, "the second chat": {g, `(() => %s)()`}, "our page": {page, `((document) => %s)(frames[0].document)`},
	}
	for name, p := range places {
		if !p.page.WaitAtMost(webtest.Timeout, fmt.Sprintf(p.in, `Boolean(document.querySelector(".list .add"))`)) {
			t.Fatalf("%s does not show the board", name)
		}
	}
	const titles = `[...document.querySelectorAll(".card .name")].map((e) => e.textContent)`
	var model []string
	agree := func(step int) {
		t.Helper()
		want, err := json.Marshal(append([]string{}, model...))
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range places {
			if !p.page.WaitAtMost(2*webtest.Timeout-5*time.Second, fmt.Sprintf(p.in, `JSON.stringify(`+titles+`) === `+fmt.Sprintf("%q", want))) {
				got := webtest.Eval[[]string](t, p.page, fmt.Sprintf(p.in, titles))
				t.Fatalf("step %d, %s (-want +got)\n%s", step, name, cmp.Diff(model, got))
			}
		}
	}
	for step := range steps {
		title := fmt.Sprintf("Card %d.", step)
		switch n := random.IntN(6); {
		case n == 0 && len(model) > 0: // the agent removes a card
			at := random.IntN(len(model))
			c.agentDoes(t, "plan", "remove_card", `{"card":"`+c.cardID(t, model[at])+`"}`)
			model = slices.Delete(model, at, at+1)
		case n == 1 && len(model) > 1: // the agent moves a card to the beginning
			at := random.IntN(len(model))
			c.agentDoes(t, "plan", "move_card", `{"card":"`+c.cardID(t, model[at])+`","position":0}`)
			moved := model[at]
			model = slices.Insert(slices.Delete(model, at, at+1), 0, moved)
		case n <= 2:
			c.agentDoes(t, "plan", "add_card", `{"list":"Todo","title":"`+title+`"}`)
			model = append(model, title)
		default: // a person adds one
			name := []string{"the first chat", "the second chat", "our page"}[n-3]
			p := places[name]
			webtest.Eval[any](t, p.page, fmt.Sprintf(p.in, `void `+fmt.Sprintf(addCard, title)))
			if !p.page.WaitAtMost(webtest.Timeout, fmt.Sprintf(p.in, titles+`.includes("`+title+`")`)) {
				t.Fatalf("step %d: the card of %s did not appear", step, name)
			}
			c.awaitCard(t, title)
			model = append(model, title)
		}
		if step%8 == 7 {
			agree(step)
		}
	}
	agree(steps)
}

type card struct{ ID, Title string }

// cards returns the cards of the board, as the agent reads it.
func (c *chats) cards(t *testing.T) (all []card) {
	t.Helper()
	var board struct {
		Lists []struct{ Cards []card }
	}
	if err := json.Unmarshal([]byte(c.agentDoes(t, "plan", "get_board", `{}`)), &board); err != nil || len(board.Lists) != 1 {
		t.Fatalf("%d lists, %v", len(board.Lists), err)
	}
	return board.Lists[0].Cards
}

func (c *chats) cardID(t *testing.T, title string) string {
	t.Helper()
	all := c.cards(t)
	at := slices.IndexFunc(all, func(one card) bool { return one.Title == title })
	if at < 0 {
		t.Fatalf("the board has no card %q", title)
	}
	return all[at].ID
}

// awaitCard waits until the board has a card, for the page may draw it before.
func (c *chats) awaitCard(t *testing.T, title string) {
	t.Helper()
	for end := time.Now().Add(webtest.Timeout); !strings.Contains(string(c.agentDoes(t, "plan", "get_board", `{}`)), title); {
		if time.Now().After(end) {
			t.Fatalf("%q never came to the board", title)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// faults are the serious and critical findings of axe in a document, without its frames.
const faults = `frames[0].axe.run(frames[0].document, { iframes: false }).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html)))`

// TestAxe: the shell with a canvas, and as a card, has no serious fault of accessibility, in
// light and dark.
func TestAxe(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("../web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("needs npm ci in canvas/web")
	}
	c := newChats(t, web{canvasAway})
	b := webtest.Start(t)
	for _, theme := range []string{"light", "dark"} {
		for id, shown := range map[string]string{"board": `!document.getElementById("bar").hidden && document.querySelector("iframe")`, "web": `!document.getElementById("card").hidden`} {
			p := c.chat(t, b, object{"context": object{"theme": theme}})
			open(t, p, object{"canvasId": id, "instanceId": "the-" + id})
			shell := shellOf(t, p)
			shell.Wait(t, inShell(shown))
			webtest.Eval[any](t, shell, inShell(`void (() => { const s = document.createElement("script"); s.textContent = `+string(mustJSON(t, string(code)))+`; document.head.append(s); })()`))
			if got := webtest.Eval[[]string](t, shell, faults); len(got) > 0 {
				t.Errorf("%s, %s: %q", id, theme, got)
			}
			p.Close()
		}
	}
}

func mustJSON(t *testing.T, s string) []byte {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOtherBrowsers: a board in a chat is live in other browsers too.
func TestOtherBrowsers(t *testing.T) {
	onlyLong(t) // starts two more browsers
	webtest.Each(t, func(t *testing.T) {
		c := newChats(t)
		p := c.chat(t, webtest.Start(t), nil)
		open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}})
		f := inner(t, p)
		f.Wait(t, `document.body.textContent.includes("Todo")`)
		c.agentDoes(t, "plan", "add_card", `{"list":"Todo","title":"Of the agent"}`)
		f.Wait(t, `document.body.textContent.includes("Of the agent")`)
		webtest.Eval[any](t, f, strings.Replace(fmt.Sprintf(addCard, "Of Ann"), "document.activeElement", `document.querySelector("form.form input, form.form textarea")`, 1)) // WebKit's window has no focus
		c.awaitCard(t, "Of Ann")
		f.Wait(t, `document.body.textContent.includes("Of Ann")`)
	}, webtest.Firefox, webtest.WebKit)
}
