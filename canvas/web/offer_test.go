package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// offers are the visible bars of links, and shownLink the address in the first.
const (
	offers    = `document.querySelectorAll(".offer:not([hidden])").length`
	shownLink = `(document.querySelector(".offer:not([hidden]) .address")?.textContent ?? "")`
)

// offering is a canvas that may offer links; offer(url) records the outcome.
func offering(id string) site {
	return site{id: id, title: "Links " + id, links: true, files: map[string]string{
		"index.html": `<!doctype html><html lang="en"><meta charset="utf-8"><title>Links</title><button>In the canvas</button><script type="module" src="/main.js"></script>`,
		"main.js": `import { offerLink } from "/.ahp/canvas.js";
			window.outcomes = [];
			window.offer = (url) => offerLink(url).catch((err) => err.message).then((outcome) => { outcomes.push(outcome); return outcome; });`,
	}}
}

// openOffering opens a page with one such canvas and returns it and the frame.
func openOffering(t *testing.T, s site) (p, frame *webtest.Page) {
	t.Helper()
	p = webtest.Start(t).Open(t, start(t, nil, s).link)
	frame = shown(t, p, 1)[0]
	frame.Wait(t, win+`.offer`)
	return p, frame
}

// TestOfferedLinkOpens: the person sees the whole address, and their click opens it in
// a tab that knows nothing of the page.
func TestOfferedLinkOpens(t *testing.T) {
	visits := make(chan *http.Request, 8)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/there" {
			visits <- r
		}
	}))
	t.Cleanup(target.Close)
	p, frame := openOffering(t, offering("one"))
	link := target.URL + "/there?q=ä"
	inCanvas[any](t, frame, fmt.Sprintf(`void offer(%q)`, link))
	p.Wait(t, fmt.Sprintf(`%s === %q`, shownLink, target.URL+"/there?q=%C3%A4"))
	if got := webtest.Eval[string](t, p, `document.querySelector(".offer strong").textContent`); "http://"+got != target.URL {
		t.Errorf("the marked host is %q", got)
	}
	save(t, "offer", p)
	p.Wait(t, `document.querySelector(".offer .open").href`)
	select {
	case r := <-visits:
		t.Fatalf("visited without a click: %v", r.URL)
	default:
	}
	p.Click(t, ".offer .open")
	select {
	case r := <-visits:
		if r.Referer() != "" || r.Header.Get("Sec-Fetch-Dest") != "document" || r.Header.Get("Sec-Fetch-User") != "?1" {
			t.Errorf("the visit's headers: %v", r.Header)
		}
	case <-time.After(webtest.Timeout):
		t.Fatal("the click opened nothing")
	}
	frame.Wait(t, win+`.outcomes.join() === "opened"`)
	p.Wait(t, offers+` === 0 && document.querySelectorAll(".card").length === 1`)
}

// TestOfferedLinkDismissed: the bar disappears when the person dismisses it, which
// returns the keyboard focus to the canvas, and when the offering page is reloaded.
func TestOfferedLinkDismissed(t *testing.T) {
	p, frame := openOffering(t, offering("one"))
	inCanvas[any](t, frame, `void offer("https://example.com/")`)
	p.Wait(t, offers+` === 1`)
	p.Click(t, ".offer .dismiss")
	frame.Wait(t, win+`.outcomes.join() === "dismissed"`)
	p.Wait(t, offers+` === 0 && document.activeElement.localName === "iframe"`)

	inCanvas[any](t, frame, `void offer("https://example.com/again")`)
	p.Wait(t, shownLink+` === "https://example.com/again"`)
	inCanvas[any](t, frame, `location.reload()`)
	p.Wait(t, offers+` === 0`)
}

// TestOffersRefused: what may not be offered shows nothing, and the canvas learns why.
func TestOffersRefused(t *testing.T) {
	const scheme = "a link must begin with https:, or with http: if it is on this machine"
	p, frame := openOffering(t, offering("one"))
	long := "https://example.com/" + strings.Repeat("x", 2048-len("https://example.com/"))
	for _, tt := range []struct{ name, link, want string }{
		{"javascript", `javascript:alert(1)`, scheme},
		{"javascript with a tab", "java\tscript:alert(1)", scheme},
		{"data", `data:text/html,hello`, scheme},
		{"file", `file:///etc/passwd`, scheme},
		{"blob of the page", `blob:http://localhost/0`, scheme},
		{"plain http elsewhere", `http://example.com/`, scheme},
		{"plain http on a name below localhost", `http://c.localhost/`, scheme},
		{"plain http on another loopback address", `http://127.0.0.2/`, scheme},
		{"mail", `mailto:me@example.com`, scheme},
		{"content of the canvas", `ahp-canvas-content:/one/`, scheme},
		{"user name", `https://example.org@example.com/`, "a link must not contain a user name or a password"},
		{"password alone", `https://:secret@example.com/`, "a link must not contain a user name or a password"},
		{"no URL", `example.com`, "a link must be a URL"},
		{"no host", `https://`, "a link must be a URL"},
		{"too long", long + "x", "a link can have at most 2,048 bytes"},
		{"too long in bytes", long[:2000] + strings.Repeat("ä", 25), "a link can have at most 2,048 bytes"},
		{"too long once encoded", long[:2000] + strings.Repeat("ä", 20), "a link can have at most 2,048 bytes"},
	} {
		if got := inCanvas[string](t, frame, fmt.Sprintf(`return offer(%q)`, tt.link)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if n := webtest.Eval[int](t, p, offers); n != 0 {
			t.Errorf("%s: %d bars", tt.name, n)
		}
	}
	inCanvas[any](t, frame, fmt.Sprintf(`void offer(%q)`, long))
	p.Wait(t, fmt.Sprintf(`%s === %q`, shownLink, long))

	silent := offering("two")
	silent.links = false
	p, frame = openOffering(t, silent)
	if got := inCanvas[string](t, frame, `return offer("https://example.com/")`); got != "this canvas may not offer links" {
		t.Errorf("without the provider's permission: %q", got)
	}
	if n := webtest.Eval[int](t, p, offers); n != 0 {
		t.Errorf("without the provider's permission: %d bars", n)
	}
}

// TestOfferedLinksAreShownAsTheyAre: the address is the one that the browser would
// open, in ASCII.
func TestOfferedLinksAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ link, host, want string }{
		{"HTTPS://EXAMPLE.com", "example.com", "https://example.com/"},
		{"https://exаmple.com/", "xn--exmple-4nf.com", "https://xn--exmple-4nf.com/"}, // a Cyrillic letter
		{"https://example.com/\u202Egpj.exe", "example.com", "https://example.com/%E2%80%AEgpj.exe"},
		{"https://h/h", "h", "https://h/h"},
		{"http://localhost:8080/a?b#c", "localhost:8080", "http://localhost:8080/a?b#c"},
		{"http://127.0.0.1/", "127.0.0.1", "http://127.0.0.1/"},
		{"https:\\\\example.com\\a", "example.com", "https://example.com/a"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			p, frame := openOffering(t, offering("one"))
			inCanvas[any](t, frame, fmt.Sprintf(`void offer(%q)`, tt.link))
			p.Wait(t, offers+` === 1`)
			got := webtest.Eval[[]string](t, p, `[`+shownLink+`, document.querySelector(".offer strong").textContent]`)
			if diff := cmp.Diff([]string{tt.want, tt.host}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOffersOfAHostileCanvas: a thousand offers at once are one bar, which then stays
// for a second. Messages that canvas.js would not send change nothing.
func TestOffersOfAHostileCanvas(t *testing.T) {
	p, frame := openOffering(t, offering("one"))
	webtest.Eval[any](t, p, `void (window.seen = [], new MutationObserver(() => {
		const at = `+shownLink+`;
		if (at && seen.at(-1)?.at !== at) seen.push({ at, when: performance.now() });
	}).observe(document.querySelector(".card"), { subtree: true, attributes: true, childList: true, characterData: true }))`)
	inCanvas[any](t, frame, `for (let i = 0; i < 1000; i++) void offer("https://example.com/" + i)`)
	p.Wait(t, offers+` === 1`)
	frame.Wait(t, win+`.outcomes.length === 998`) // one is shown, the newest accepted one waits
	p.Wait(t, shownLink+` !== "https://example.com/0"`)
	frame.Wait(t, win+`.outcomes.length === 999`)
	count := func(outcome string) int {
		return inCanvas[int](t, frame, fmt.Sprintf(`return outcomes.filter((o) => o === %q).length`, outcome))
	}
	many, dismissed := count("this canvas sends too many messages"), count("dismissed")
	if many < 500 || many+dismissed != 999 {
		t.Errorf("%d were too many, %d dismissed", many, dismissed)
	}
	seen := webtest.Eval[[]struct{ When float64 }](t, p, `seen.map(({ when }) => ({ When: when }))`)
	if len(seen) != 2 || seen[1].When-seen[0].When < 950 {
		t.Errorf("the bar changed too soon: %v", seen)
	}
}

// offerKit is a bar in the page. The array `heard` has the outcomes of offers, in order.
const offerKit = `
	const { LinkOffers, OFFER_BAR } = await import("/offer.js"), { View } = await import("/view.js");
	const bar = document.createElement("div"), heard = [];
	bar.innerHTML = OFFER_BAR("x");
	bar.hidden = true;
	document.body.append(bar);
	const links = new LinkOffers(bar, () => heard.push("focus"));
	const offer = (url) => links.offer(url).then((o) => heard.push(o), (err) => heard.push(err.message));
	const open = bar.querySelector(".open"), dismiss = bar.querySelector(".dismiss");
	const turn = (ms = 20) => new Promise((r) => setTimeout(r, ms));
	open.addEventListener("click", (event) => event.preventDefault()); // no tabs here
`

// TestOfferBar: the link works only after a moment, and an offer that replaces
// another begins with a link that does not.
func TestOfferBar(t *testing.T) {
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	for _, tt := range []struct{ name, does, want string }{
		{"a click at once opens nothing", `offer("https://a.example/"); await turn(); open.click(); await turn()`, ""},
		{"a click later does", `offer("https://a.example/"); await turn(600); open.click(); await turn()`, "opened"},
		{"the middle button does", `offer("https://a.example/"); await turn(600); open.dispatchEvent(new MouseEvent("auxclick", { button: 1 })); await turn()`, "opened"},
		{"the right button does not", `offer("https://a.example/"); await turn(600); open.dispatchEvent(new MouseEvent("auxclick", { button: 2 })); await turn()`, ""},
		{"dismissed with the keyboard", `offer("https://a.example/"); dismiss.focus(); dismiss.click(); await turn()`, "focus,dismissed"},
		{"a replaced link", `offer("https://a.example/"); await turn(1100); offer("https://b.example/"); await turn(); open.click(); await turn()`, "dismissed"},
		{"the newest of those that wait", `offer("https://a.example/"); offer("https://b.example/"); offer("https://c.example/"); await turn(1700); heard.push(open.href); open.click(); await turn()`,
			"dismissed,dismissed,https://c.example/,opened"},
		{"no offer directly after another", `offer("https://a.example/"); dismiss.click(); offer("https://b.example/"); await turn(); heard.push(bar.hidden); await turn(1000); heard.push(bar.hidden)`, "dismissed,true,false"},
		{"withdrawn", `offer("https://a.example/"); offer("https://b.example/"); links.withdraw(); await turn(1100); heard.push(bar.hidden)`, "dismissed,dismissed,true"},
		{"not a text", `await offer({ toString: 1 }); await offer(Object.assign([], { length: 2 ** 32 - 1 })); await offer(new URL("https://a.example/"))`,
			"a link must be a URL,a link must be a URL,a link must be a URL"},
		{"without a place for links", `
			const { port1, port2 } = new MessageChannel(), view = new View(() => 1, () => {});
			view.connect(port1);
			port2.onmessage = ({ data }) => { if (data.t !== "state") heard.push(data.t, data.id, data.reason); };
			port2.postMessage({ t: "offer", id: 7, url: "https://a.example/" }); await turn(50)`, "refused,7,links cannot be opened here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := webtest.Eval[string](t, p, fmt.Sprintf(`(async () => { %s; %s; bar.remove(); return heard.join(); })()`, offerKit, tt.does))
			if got != tt.want {
				t.Errorf("outcomes %q, want %q", got, tt.want)
			}
		})
	}
}
