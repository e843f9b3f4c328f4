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
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// board is a host with one open canvas, which has a title of markup.
type board struct {
	url          *string
	availability session.CanvasAvailability
}

func (b board) state(uri string) (channels.State, bool) {
	switch title := `<b>"Board"`; uri {
	case sessionURI:
		return session.State{OpenCanvases: []session.OpenCanvasRef{{InstanceID: "a/b", Channel: canvasURI, Title: &title, Availability: b.availability}}}, true
	case canvasURI:
		return canvas.CanvasState{InstanceID: "a/b", Title: &title, URL: b.url, Availability: b.availability}, true
	}
	return nil, false
}

// editor returns a translator for VS Code, subscribed to the chat.
func (b board) editor(t *testing.T, cards dialect.Cards, name string) server.Translator {
	t.Helper()
	d, err := dialect.New(dialect.Options{
		Cards: cards, State: b.state,
		Address: func(string, canvas.CanvasState, ws.Grant) string { return `http://g-1.localhost:80/x?a="&~t=secret` },
	}).Negotiate(ahp.Value(`{"protocolVersions":["0.9.0"],"clientInfo":{"name":"` + name + `"},"_meta":{"vscode.ahpSessionUris":true}}`))
	if err != nil || d == nil {
		t.Fatalf("%v, %v", d, err)
	}
	tr := d.Translator(ws.Grant{})
	subscribe(t, tr, chatURI, map[string]any{
		sessionURI: session.State{}, "ahp-chat:/s": map[string]any{"modifiedAt": "", "turns": []int{}, "status": 0},
	})
	return tr
}

// read reads the card of the board.
func read(t *testing.T, tr server.Translator) (text string, frames []string) {
	t.Helper()
	m, err := tr.Receive(server.Message{ID: []byte("2"), Method: "resources/read", Params: ahp.MustMarshal(map[string]string{
		"uri": chat.CardURI("a/b"), "channel": chat.CardChannel(sessionURI),
	})})
	var result struct {
		Contents []struct {
			Text string `json:"text"`
			Meta struct {
				UI struct {
					CSP struct {
						FrameDomains []string `json:"frameDomains"`
					} `json:"csp"`
				} `json:"ui"`
			} `json:"_meta"`
			Rest ahp.Value `json:",embed"`
		} `json:"contents"`
	}
	if err == nil {
		err = ahp.Unmarshal(m.Answer, &result)
	}
	if err != nil || len(result.Contents) != 1 {
		t.Fatalf("%v: %s", err, m.Answer)
	}
	return result.Contents[0].Text, result.Contents[0].Meta.UI.CSP.FrameDomains
}

// TestCardPage: a card frames exactly the origin of its canvas, quotes what is not its
// own, and has no frame if the canvas cannot be shown.
func TestCardPage(t *testing.T) {
	url := "x"
	text, frames := read(t, board{&url, session.Ready}.editor(t, dialect.CardsAuto, "vscode-x"))
	if len(frames) != 1 || frames[0] != "http://g-1.localhost:80" {
		t.Errorf("the card can frame %q", frames)
	}
	if want := `src="http://g-1.localhost:80/x?a=&#34;&amp;~t=secret" title="&lt;b&gt;&#34;Board&#34;"`; !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
	for name, b := range map[string]board{"stale": {&url, session.Stale}, "without an address": {nil, session.Ready}} {
		if text, frames := read(t, b.editor(t, dialect.CardsAuto, "vscode-x")); strings.Contains(text, "<iframe") || len(frames) != 0 {
			t.Errorf("%s: frames %q, page\n%s", name, frames, text)
		}
	}
}

// TestCards: by the name of the client and the option, a turn has cards and links.
func TestCards(t *testing.T) {
	url := "x"
	for _, c := range []struct {
		cards dialect.Cards
		name  string
		want  bool
	}{
		{dialect.CardsAuto, "vscode-x", true},
		{dialect.CardsAuto, "copilot", false},
		{dialect.CardsOn, "copilot", true},
		{dialect.CardsOff, "vscode-x", false},
	} {
		tr := board{&url, session.Ready}.editor(t, c.cards, c.name)
		if _, ok := publish(t, tr, "ahp-chat:/s", "chat/toolCallStart", chat.ToolCallStart{TurnID: "t", ToolCallID: "c"}); ok != c.want {
			t.Errorf("option %d, client %s: a card is %v, want %v", c.cards, c.name, ok, c.want)
		}
		part := chat.ResponsePart{TurnID: "t", Part: chat.Part{Kind: "markdown", ID: "answer", Content: "Look.", Canvases: []chat.Shown{{Channel: canvasURI, InstanceID: "a/b", Title: "[Board]"}}}}
		e, _ := publish(t, tr, "ahp-chat:/s", part.ActionType(), part)
		if text := string(e.Action); !strings.Contains(text, `- [\\[Board\\]](<http://g-1.localhost:80/x?a=\"&~t=secret>)`) || strings.Contains(text, "canvases") {
			t.Errorf("the links are %s", text)
		}
	}
}
