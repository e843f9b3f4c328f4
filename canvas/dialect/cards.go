package dialect

import (
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// Cards says which clients show canvases as cards in the chat.
type Cards int

const (
	// CardsAuto is VS Code: clients whose names begin with vscode-.
	CardsAuto Cards = iota
	// CardsOn is every client of a dialect. A client that shows no MCP Apps shows a tool
	// call without a picture.
	CardsOn
	// CardsOff is no client.
	CardsOff
)

// cardsNames are the words for the values.
var cardsNames = []string{"auto", "on", "off"}

// MarshalText returns the word for a value.
func (c Cards) MarshalText() ([]byte, error) {
	if c < 0 || int(c) >= len(cardsNames) {
		return nil, fmt.Errorf("no such value of cards: %d", c)
	}
	return []byte(cardsNames[c]), nil
}

// UnmarshalText sets the value of a word.
func (c *Cards) UnmarshalText(text []byte) error {
	at := slices.Index(cardsNames, string(text))
	if at < 0 {
		return fmt.Errorf("%q: want auto, on or off", text)
	}
	*c = Cards(at)
	return nil
}

// showTo reports whether a client gets cards.
func (c Cards) showTo(client string) bool {
	return c == CardsOn || c == CardsAuto && strings.HasPrefix(client, "vscode-")
}

// cardResource is the page of a card, as MCP Apps have it.
type cardResource struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
	Meta     struct {
		UI struct {
			CSP struct {
				FrameDomains []string `json:"frameDomains"`
			} `json:"csp"`
		} `json:"ui"`
	} `json:"_meta"`
}

// readCard answers resources/read. An editor reads a card again whenever it draws it, so a
// canvas that is closed or whose provider is gone answers a page that says so.
func (t *translator) readCard(m *server.Message, p object) error {
	of, ok := chat.SessionOfCards(p.text("channel"))
	id, named := chat.InstanceOfCard(p.text("uri"))
	if !ok || !named || canvas.CheckInstanceID(id) != nil || !t.mayRead(of) {
		return ahp.ErrNotFound
	}
	card := cardResource{URI: p.text("uri"), MIMEType: "text/html;profile=mcp-app", Text: plainCard("This canvas is closed.")}
	card.Meta.UI.CSP.FrameDomains = []string{}
	if ref, ok := t.openIn(of, id); ok {
		title := id
		if ref.Title != nil {
			title = *ref.Title
		}
		address := t.address(ref.Channel)
		origin, err := url.Parse(address)
		switch {
		case ref.Availability != session.Ready:
			card.Text = plainCard("The provider of this canvas cannot be reached now.")
		case address == "" || err != nil || origin.Host == "":
			card.Text = plainCard("This canvas has no address that an editor can show. Open it in the page of the host.")
		default:
			card.Text = framedCard(address, title)
			card.Meta.UI.CSP.FrameDomains = []string{origin.Scheme + "://" + origin.Host}
		}
	}
	m.Answer = ahp.MustMarshal(map[string][]cardResource{"contents": {card}})
	return nil
}

// mayRead reports whether the client sees a session: it has subscribed to it or its chat.
func (t *translator) mayRead(uri string) bool { return t.wants(uri) || t.wants(chat.URI(uri)) }

// openIn returns an open canvas of a session.
func (t *translator) openIn(uri, instanceID string) (session.OpenCanvasRef, bool) {
	if t.opts.State == nil {
		return session.OpenCanvasRef{}, false
	}
	state, _ := t.opts.State(uri)
	s, _ := state.(session.State)
	at := slices.IndexFunc(s.OpenCanvases, func(c session.OpenCanvasRef) bool { return c.InstanceID == instanceID })
	if at < 0 {
		return session.OpenCanvasRef{}, false
	}
	return s.OpenCanvases[at], true
}

// noTool answers tools/call: a card calls no tools.
func noTool(*translator, *server.Message, object) error {
	return ahp.Errorf(ahp.CodeMethodNotFound, "no such method: cards have no tools")
}

// cardHeight is the height of a card in CSS pixels. A card cannot know how large its
// frame's content is.
const cardHeight = 430

// plainCard is a card without a frame.
func plainCard(text string) string {
	return fmt.Sprintf(cardPage, 60, "<p>"+html.EscapeString(text)+"</p>", 60)
}

// framedCard is a card that frames a canvas. Its button opens the canvas in a browser.
func framedCard(address, title string) string {
	frame := fmt.Sprintf(`<iframe src="%s" title="%s"></iframe><button id="larger" title="Open in the browser">Larger ↗</button>`, html.EscapeString(address), html.EscapeString(title))
	return fmt.Sprintf(cardPage, cardHeight, frame, cardHeight)
}

// cardPage speaks MCP Apps with the editor: it introduces itself, tells its height and takes
// the colors of the editor's theme.
const cardPage = `<!doctype html>
<meta charset="utf-8">
<style>
html, body { margin: 0; height: %dpx; font: 13px var(--font-sans, system-ui), sans-serif; color: var(--color-text-primary, inherit) }
body { display: flex; flex-direction: column; gap: 4px }
iframe { box-sizing: border-box; width: 100%%; flex: 1; border: 1px solid var(--color-border-primary, #8886); border-radius: 6px }
button { align-self: end; border: 0; padding: 3px 6px; border-radius: 4px; background: none; font: inherit; color: var(--color-text-secondary, inherit); cursor: pointer }
button:hover, button:focus-visible { background: var(--color-background-secondary, #8883); color: var(--color-text-primary, inherit) }
p { margin: 12px }
</style>
%s
<script>
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const dress = (context) => {
  const root = document.documentElement.style;
  if (context?.theme === "light" || context?.theme === "dark") root.colorScheme = context.theme;
  for (const [name, value] of Object.entries(context?.styles?.variables ?? {})) if (name.startsWith("--")) root.setProperty(name, value);
};
addEventListener("message", ({ source, data }) => {
  if (source !== parent) return;
  if (data?.method === "ui/notifications/host-context-changed") return dress(data.params);
  if (data?.id !== 1 || !data.result) return;
  dress(data.result.hostContext);
  send({ method: "ui/notifications/initialized", params: {} });
  send({ method: "ui/notifications/size-changed", params: { width: document.body.scrollWidth, height: %d } });
});
document.querySelector("#larger")?.addEventListener("click", () => send({ id: 2, method: "ui/open-link", params: { url: document.querySelector("iframe").src } }));
send({ id: 1, method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo: { name: "ahp-canvas", version: "1" }, appCapabilities: {} } });
</script>
`
