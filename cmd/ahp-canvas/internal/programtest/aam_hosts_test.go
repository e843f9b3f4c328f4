package programtest

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// aamOutcome is what a test reads of an outcome of aam-site.
type aamOutcome struct {
	Kind         string    `json:"outcome,omitzero"`
	Call         string    `json:"call,omitzero"`
	WaitsFor     string    `json:"waits_for,omitzero"`
	OK           bool      `json:"ok,omitzero"`
	AuthorizeURL string    `json:"authorize_url,omitzero"`
	Payment      ahp.Value `json:"payment,omitzero"`
	Rest         ahp.Value `json:",embed"`
}

// phone is a host whose agent uses sites, with its person in front of the card.
type phone struct {
	t    *testing.T
	m    *machine
	card *owner
}

// do invokes an action of the card as the agent.
func (p *phone) do(action string, input any) (o aamOutcome) {
	p.t.Helper()
	text := p.m.do(0, "invoke", "site", action, "--input", string(ahp.MustMarshal(input)))
	if err := ahp.Unmarshal([]byte(text), &o); err != nil {
		p.t.Fatal(err, text)
	}
	return o
}

// call invokes an action of the site, and returns the outcome once it no longer waits for
// what came before.
func (p *phone) call(action, title string) aamOutcome {
	p.t.Helper()
	return p.do("invoke", map[string]any{"action": action, "params": map[string]string{"list": "To do", "title": title}})
}

// result waits until a call is in another state than before.
func (p *phone) result(o aamOutcome) aamOutcome {
	p.t.Helper()
	next := o
	untilTrue(p.t, "outcome of the call after "+o.WaitsFor, func() bool {
		next = p.do("result", map[string]string{"call": o.Call})
		return next.Kind != o.Kind || next.WaitsFor != o.WaitsFor && next.WaitsFor != "site"
	})
	return next
}

// send approves what the card asks.
func (p *phone) send(pin string) {
	p.t.Helper()
	p.card.wait(`at("#asks .main")`)
	if pin != "" {
		p.card.wait(`at("#asks .amount")`)
		p.card.eval(`at("#asks [name=pin]").focus()`)
		p.card.frame.Keys(p.t, pin+kb.Enter)
		return
	}
	p.card.eval(`at("#asks .main").focus()`)
	p.card.frame.Keys(p.t, kb.Enter)
}

func startPhone(t *testing.T, b *webtest.Browser, site string, relayed bool) *phone {
	t.Helper()
	p := &phone{t: t, m: newMachine(t)}
	dir := filepath.Join(t.TempDir(), "state")
	key, err := x402.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	signer := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(signer, []byte(key.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "aam"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := aam.SetPIN(filepath.Join(dir, "aam", "pin"), aamPIN); err != nil {
		t.Fatal(err)
	}
	args := []string{"--state", dir, "--aam", "--aam-loopback", "--aam-vendor", aamVendor, "--aam-signer", signer}
	page := ""
	if relayed {
		at, flags := relayOf(t, p.m)
		page, args = at, append(args, flags...)
	}
	s := p.m.serve(args...)
	if !strings.HasPrefix(s.Link, page) {
		t.Fatalf("the link does not lead to the relay %s", page)
	}
	p.m.do(0, "open", "aam-site", "--instance", "site", "--input", string(ahp.MustMarshal(map[string]string{"site": site})))
	p.card = &owner{t: t, tab: b.Open(t, s.Link)}
	untilTrue(t, "the card of the site", func() bool {
		for _, f := range p.card.tab.Frames(t, 1, webtest.ContentFrame) {
			if f.WaitAtMost(time.Second, ownerPrelude+`at("#asks") && d.body.getAttribute("aria-busy") === "false"})()`) {
				p.card.frame = f
				return true
			}
		}
		return false
	})
	return p
}

// TestAAMTwoHosts is the seed's story between two hosts: the agent of one uses the board of
// the other. Persons approve in both: what is sent, who is let in, what is paid. With
// AHP_LONG also with both persons behind relays.
func TestAAMTwoHosts(t *testing.T) {
	t.Run("direct", func(t *testing.T) {
		t.Parallel()
		aamTwoHosts(t, false)
	})
	t.Run("relay", func(t *testing.T) {
		if os.Getenv("AHP_LONG") == "" {
			t.Skip("runs with AHP_LONG")
		}
		t.Parallel()
		aamTwoHosts(t, true)
	})
}

func aamTwoHosts(t *testing.T, relayed bool) {
	b := webtest.Start(t)
	h := newAAMHost(t)
	var args []string
	if relayed {
		_, args = relayOf(t, h.m)
	}
	s := h.serve(args...)
	maria := openOwner(t, b, s.Link)
	p := startPhone(t, b, h.origin, relayed)

	first := p.call("add_card", "Milk")
	if first.Kind != "pending" || first.WaitsFor != "approval" {
		t.Fatalf("%+v", first)
	}
	p.send("")
	signIn := p.result(first)
	if signIn.Kind != aam.SignIn {
		t.Fatalf("%+v", signIn)
	}
	at, err := url.Parse(signIn.AuthorizeURL)
	if err != nil || at.Query().Get("vendor") != aamVendor {
		t.Fatal(signIn.AuthorizeURL)
	}
	page := b.Open(t, signIn.AuthorizeURL)
	page.Click(t, "button")
	untilTrue(t, "the number of the request", func() bool { return page.WaitAtMost(time.Second, `document.querySelector("#number")`) })
	maria.letIn(webtest.Eval[string](t, page, `document.querySelector("#number").textContent`), aamPIN)
	maria.wait(`at(".code")`)
	code := maria.eval(`at(".code").textContent`)

	p.card.wait(`!at("#entry").hidden`)
	p.card.eval(`at("#code").focus()`)
	p.card.frame.Keys(t, code+kb.Enter)
	p.card.wait(`at("#signed").textContent.startsWith("Signed in")`)
	p.card.shot("aam-site-signed-in-" + t.Name())

	done := p.call("add_card", "Milk")
	if done.Kind == "pending" && done.WaitsFor == "approval" {
		p.send("")
	}
	if done.Kind == "pending" {
		done = p.result(done)
	}
	if done.Kind != aam.Done || !done.OK {
		t.Fatalf("%+v", done)
	}
	paid := p.call("add_urgent_card", "Fire")
	p.send("")
	if paid = p.result(paid); paid.Kind != "pending" || paid.WaitsFor != "payment" {
		t.Fatalf("%+v", paid)
	}
	p.card.wait(`at("#asks .amount")`)
	p.card.shot("aam-site-payment-" + t.Name())
	p.send(aamPIN)
	if paid = p.result(paid); paid.Kind != aam.Done || !paid.OK || !strings.Contains(string(paid.Payment), `"0.05"`) {
		t.Fatalf("%+v", paid)
	}
	maria.wait(`at("#payments").textContent.includes("1 payment")`)
	maria.click("#agents button") // Revoke
	maria.wait(`at("#agents").children.length === 0`)
	last := p.call("add_card", "Bread")
	p.send("")
	if last = p.result(last); last.Kind != aam.SignIn {
		t.Errorf("after the revoke: %+v", last)
	}
	p.card.wait(`at("#signed").textContent === "Not signed in"`)
	var rows []logRow
	if err := json.Unmarshal([]byte(h.m.do(0, "invoke", "aam-agents", "log")), &rows); err != nil || len(rows) != 5 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if events := p.m.do(0, "invoke", "site", "calls"); strings.Contains(events, code) || strings.Contains(events, "agt_") || strings.Contains(events, aamPIN) {
		t.Error("the agent's log has a secret")
	}
	code = p.again(b, maria, last)
	maria.tab.Close()
	if signed := p.do("exchange_token", map[string]string{"code": code}); !strings.Contains(string(signed.Rest), `"signed_in":true`) {
		t.Errorf("%s", signed.Rest)
	}
	s.stop(syscall.SIGTERM)
}

// again asks to be let in a second time: the owner refuses the first request, closes the
// page in between, and lets the agent in with the second.
func (p *phone) again(b *webtest.Browser, maria *owner, signIn aamOutcome) (code string) {
	p.t.Helper()
	request := func() string {
		p.t.Helper()
		page := b.Open(p.t, signIn.AuthorizeURL)
		page.Click(p.t, "button")
		untilTrue(p.t, "the number of the request", func() bool { return page.WaitAtMost(time.Second, `document.querySelector("#number")`) })
		return webtest.Eval[string](p.t, page, `document.querySelector("#number").textContent`)
	}
	refused := request()
	maria.wait(`at("#r` + refused + `")`)
	maria.eval(`at("#r` + refused + ` [type=button]").focus()`)
	maria.frame.Keys(p.t, kb.Enter)
	maria.wait(`!at("#r` + refused + `")`)
	number := request()
	maria.tab.Reload(p.t)
	untilTrue(p.t, "the canvas after the page was loaded again", func() bool {
		for _, f := range maria.tab.Frames(p.t, 1, webtest.ContentFrame) {
			if f.WaitAtMost(time.Second, ownerPrelude+`at("#r`+number+`")})()`) {
				maria.frame = f
				return true
			}
		}
		return false
	})
	maria.eval(`at("#r` + number + ` [name=pin]").focus()`)
	maria.frame.Keys(p.t, aamPIN+kb.Enter)
	maria.wait(`at(".code")`)
	return maria.eval(`at(".code").textContent`)
}
