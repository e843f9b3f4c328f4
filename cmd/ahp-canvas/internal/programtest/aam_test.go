package programtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	cmdrelay "github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relay"
)

const (
	aamPIN    = "geheim-1"
	aamVendor = "phone.example"
)

// aamHost is a machine with a site's file and a PIN.
type aamHost struct {
	m         *machine
	dir, file string
	origin    string
}

func newAAMHost(t *testing.T) *aamHost {
	t.Helper()
	h := &aamHost{m: newMachine(t), dir: filepath.Join(t.TempDir(), "state"), origin: "http://127.0.0.1:" + freePort(t)}
	h.file = filepath.Join(t.TempDir(), "site.json")
	config := `{"listen":"` + strings.TrimPrefix(h.origin, "http://") + `","origin":"` + h.origin + `","site":{"name":"Maria's board","domain":"127.0.0.1"},"settle":{"later":"5m"},"actions":[
		{"id":"add_card","extension":"board","canvas":"board","instance":"board","action":"add_card","pricing":"free"},
		{"id":"add_urgent_card","extension":"board","canvas":"board","instance":"board","action":"add_card","pricing":{"type":"x402","amount":"0.05","currency":"USDC","network":"base-sepolia","pay_to":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C"}}]}`
	if err := os.WriteFile(h.file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "aam"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := aam.SetPIN(filepath.Join(h.dir, "aam", "pin"), aamPIN); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *aamHost) serve(args ...string) *server {
	h.m.t.Helper()
	return h.m.serve(append([]string{"--state", h.dir, "--aam-site", h.file}, args...)...)
}

// aamAgent is another vendor's agent, with a test key.
type aamAgent struct {
	t        *testing.T
	key      x402.Key
	client   *aam.Client
	site     aam.Site
	manifest *aam.Manifest
}

func newAAMAgent(t *testing.T, origin string) *aamAgent {
	t.Helper()
	key, err := x402.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	out := outbound.New(outbound.Options{Loopback: true})
	t.Cleanup(func() { _ = out.Close() })
	a := &aamAgent{t: t, key: key, client: aam.New(aam.Options{HTTP: out, Vendor: aamVendor, Signer: key})}
	if a.site, err = aam.ParseSite(origin, true); err != nil {
		t.Fatal(err)
	}
	var warnings []aam.Warning
	if a.manifest, warnings, err = a.client.Discover(t.Context(), a.site); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	return a
}

// invoke calls an action that adds a card, and pays if it must.
func (a *aamAgent) invoke(action, title string) aam.Outcome {
	a.t.Helper()
	call := aam.Call{ID: aam.CallID(), Action: action, Params: ahp.MustMarshal(map[string]string{"list": "To do", "title": title}), Person: "maria"}
	o, err := a.client.Invoke(a.t.Context(), a.manifest, a.site, call)
	if err == nil && o.Kind == aam.Payment {
		due, ok := o.Due()
		if !ok {
			a.t.Fatalf("not payable: %+v", o)
		}
		o, err = a.client.Pay(a.t.Context(), a.manifest, a.site, call, due, "", false)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return o
}

// sign returns a payment of the price, as a header.
func (a *aamAgent) sign() string {
	network, _ := x402.NetworkOf(x402.BaseSepolia)
	amount, _ := x402.ParsePrice("0.05")
	to, err := x402.ParseAddress("0x209693Bc6afc0C5328bA36FaF03C514EF312287C")
	if err != nil {
		panic(err)
	}
	data, err := x402.Authorize(a.key.Account(), x402.Price{Network: network, Amount: amount, PayTo: to}, 10*time.Minute, time.Now())
	if err != nil {
		panic(err)
	}
	sig, err := a.key.Sign(context.Background(), data)
	if err != nil {
		panic(err)
	}
	return x402.Header(data, sig)
}

// owner is the host's owner in front of the canvas aam-agents.
type owner struct {
	t     *testing.T
	tab   *webtest.Page
	frame *webtest.Page
}

const ownerDocument = `document.querySelector("iframe").contentDocument`

func openOwner(t *testing.T, b *webtest.Browser, link string) *owner {
	t.Helper()
	o := &owner{t: t, tab: b.Open(t, link)}
	o.frame = o.tab.Frames(t, 1, webtest.ContentFrame)[0]
	o.wait(`d.title === "Agents" && d.body.getAttribute("aria-busy") === "false"`)
	return o
}

const ownerPrelude = `(() => { const d = ` + ownerDocument + `, at = (s) => d.querySelector(s); return `

// wait waits for an expression in the canvas; d is its document, at finds an element.
func (o *owner) wait(expression string) {
	o.t.Helper()
	if !o.frame.WaitAtMost(webtest.Timeout, ownerPrelude+expression+`})()`) {
		o.t.Fatalf("never true: %s\nthe canvas says: %s", expression, o.eval(`d.body.innerText`))
	}
}

func (o *owner) eval(expression string) string {
	o.t.Helper()
	return webtest.Eval[string](o.t, o.frame, ownerPrelude+`String(`+expression+`)})()`)
}

// click presses the mouse on an element of the canvas.
func (o *owner) click(selector string) {
	o.t.Helper()
	o.wait(`at("` + selector + `")`)
	in := webtest.Eval[[2]float64](o.t, o.frame, ownerPrelude+`(at("`+selector+`").scrollIntoView({ block: "center" }), (({ x, y, width, height }) => [x + width / 2, y + height / 2])(at("`+selector+`").getBoundingClientRect()))})()`)
	out := webtest.Eval[[2]float64](o.t, o.tab, `[...document.querySelectorAll(".card iframe")].map((f) => f.getBoundingClientRect()).map(({ x, y }) => [x, y])[0]`)
	o.tab.ClickAt(o.t, out[0]+in[0], out[1]+in[1])
}

// letIn types the PIN for a request and presses Enter; it returns the code.
func (o *owner) letIn(number, pin string) {
	o.t.Helper()
	card := "#r" + number
	o.wait(`at("` + card + `")?.textContent.includes("` + aamVendor + `")`)
	field := card + " [name=pin]"
	untilTrue(o.t, "the focus in the field of the PIN", func() bool { // the request is still being drawn
		o.click(field)
		return o.frame.WaitAtMost(2*time.Second, ownerPrelude+`d.activeElement === at("`+field+`") && d.hasFocus()})()`)
	})
	o.frame.Keys(o.t, pin+kb.Enter)
}

// TestAAMStory is the way of an agent of another vendor to the board of a host: 401,
// request, approval with the PIN in Chromium, code, token, call, 402, signed retry, result,
// audit, revoke, 401. It runs with the host's own link, and with one through a relay: the
// relay leads the person to the host, and no stranger.
func TestAAMStory(t *testing.T) {
	for _, way := range []string{"direct", "relay"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := webtest.Start(t)
			h := newAAMHost(t)
			var args []string
			relayed := ""
			if way == "relay" {
				relayed, args = relayOf(t, h.m)
			}
			s := h.serve(args...)
			if relayed != "" && !strings.HasPrefix(s.Link, relayed) {
				t.Fatalf("the link %s is not the relay's", s.Link)
			}
			aamStory(t, b, h, s)
			if relayed != "" { // strangers do not come that way
				if page := body(t, relayed+".well-known/agent-actions.json"); strings.Contains(page, "aam_version") {
					t.Error("the relay leads to the site")
				}
			}
		})
	}
}

// relayOf starts a relay, and returns its page and the flags of a host.
func relayOf(t *testing.T, m *machine) (page string, flags []string) {
	t.Helper()
	dir := t.TempDir()
	tokens, key := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "key.json")
	if err := os.WriteFile(key, []byte(m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")), 0o600); err != nil {
		t.Fatal(err)
	}
	r := m.start("relay", "--json", "--listen", "127.0.0.1:0", "--tokens", tokens)
	var at cmdrelay.Line
	if err := json.Unmarshal([]byte(r.line), &at); err != nil {
		t.Fatal(err)
	}
	return at.Page, []string{"--relay", at.Relay, "--relay-token-file", key}
}

func aamStory(t *testing.T, b *webtest.Browser, h *aamHost, s *server) {
	a := newAAMAgent(t, h.origin)
	signIn := a.invoke("add_card", "Milk")
	if signIn.Kind != aam.SignIn || !strings.HasPrefix(signIn.AuthorizeURL, h.origin+"/agent/authorize?") {
		t.Fatalf("%+v", signIn)
	}
	maria := openOwner(t, b, s.Link)
	page := b.Open(t, signIn.AuthorizeURL)
	page.Click(t, "button")
	untilTrue(t, "the number of the request", func() bool { return page.WaitAtMost(time.Second, `document.querySelector("#number")`) })
	number := webtest.Eval[string](t, page, `document.querySelector("#number").textContent`)
	maria.letIn(number, "wrong-1")
	maria.wait(`at("#r` + number + ` .error").textContent === "the PIN is wrong"`)
	maria.letIn(number, aamPIN)
	maria.wait(`at(".code")`)
	code := maria.eval(`at(".code").textContent`)
	maria.shot("aam-agents-code-" + t.Name())
	if _, err := a.client.Exchange(t.Context(), a.manifest, a.site, "maria", code); err != nil {
		t.Fatal(err)
	}
	if o := a.invoke("add_card", "Milk"); o.Kind != aam.Done || !o.OK || o.RunID == "" {
		t.Fatalf("%+v", o)
	}
	paid := a.invoke("add_urgent_card", "Fire")
	if !paid.OK || paid.Paid == nil || paid.Paid.Amount != "0.05" {
		t.Fatalf("%+v", paid)
	}
	maria.tab.Wait(t, `document.querySelectorAll(".card iframe").length === 2`) // the board is open
	maria.click("#agents button")                                               // Revoke
	maria.wait(`at("#agents").children.length === 0`)
	if o := a.invoke("add_card", "Bread"); o.Kind != aam.SignIn {
		t.Errorf("after the revoke: %+v", o)
	}
	maria.wait(`at("#rows").textContent.includes("add_urgent_card") && at("#payments").textContent === "1 payment is signed and not collected."`)
	var rows []string
	for _, r := range h.log(s) {
		rows = append(rows, fmt.Sprint(r.Action, " ", r.Status))
	}
	if got := strings.Join(rows, ", "); got != "add_card 401, add_urgent_card 200, add_urgent_card 402, add_card 200, add_card 401" {
		t.Errorf("the audit: %s", got)
	}
	secrets := map[string]string{"code": code, "PIN": aamPIN}
	for name, text := range map[string]string{"log": s.errs.String(), "events": h.m.do(0, "invoke", "aam-agents", "list")} {
		for what, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("the %s has the %s", name, what)
			}
		}
	}
	if status := s.stop(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, s.errs)
	}
	_ = filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		if raw, err := os.ReadFile(path); err == nil {
			for what, secret := range secrets {
				if bytes.Contains(raw, []byte(secret)) {
					t.Errorf("%s has the %s", d.Name(), what)
				}
			}
		}
		return nil
	})
}

// shot saves a picture if SCREENSHOTS names a folder.
func (o *owner) shot(name string) {
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"), o.tab.Screenshot(o.t), 0o644); err != nil {
			o.t.Error(err)
		}
	}
}

// logRow is what the tests read of a row of the audit.
type logRow struct {
	Action string `json:"action_id"`
	Result string `json:"result"`
	Status int    `json:"status"`
}

// log returns the site's audit, the newest first.
func (h *aamHost) log(s *server) (rows []logRow) {
	h.m.t.Helper()
	text := h.m.do(0, "invoke", "aam-agents", "log", "--input", `{"limit":100}`)
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		h.m.t.Fatal(err)
	}
	return rows
}

// TestAAMListener: the site's listener is not the host: it has no path of the host, no
// token of the host is good there, and none of the site's at the host.
func TestAAMListener(t *testing.T) {
	t.Parallel()
	h := newAAMHost(t)
	s := h.serve()
	get := func(address, token string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for _, path := range []string{"/", "/ahp", "/mcp", "/proof", "/healthz", "/access/tokens", "/app.js", "/.ahp/canvas.js"} {
		for _, token := range []string{"", s.ViewToken, s.AgentToken} {
			if got := get(h.origin+path, token); got != 404 {
				t.Errorf("%s at the site: %d", path, got)
			}
		}
	}
	for _, path := range []string{".well-known/agent-actions.json", "api/aam/manifest", "agent/authorize?vendor=a", "account/agents"} {
		if got := get(s.Page+path, ""); got == 200 {
			t.Errorf("/%s at the host: %d", path, got)
		}
	}
	if got := get(s.MCP, "agt_"+strings.Repeat("0", 64)); got != 401 {
		t.Errorf("a token of the site at the host: %d", got)
	}
	for _, token := range []string{s.ViewToken, s.AgentToken} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.origin+"/api/aam/actions/add_card", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + token}, "X-Agent-Vendor": {aamVendor}, "Content-Type": {"application/json"}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != 401 {
			t.Errorf("a token of the host at the site: %d", resp.StatusCode)
		}
	}
}

// TestAAMInit: the site that init writes starts, and a file is not replaced.
func TestAAMInit(t *testing.T) {
	t.Parallel()
	m, dir := newMachine(t), t.TempDir()
	file := filepath.Join(dir, "my site.json")
	if out := m.do(0, "aam", "init", file); !strings.Contains(out, "--aam-site '"+file+"'") {
		t.Error(out)
	}
	m.do(1, "aam", "init", file)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	if err := os.WriteFile(file, bytes.ReplaceAll(raw, []byte("8788"), []byte(port)), 0o644); err != nil {
		t.Fatal(err)
	}
	s := m.serve("--aam-site", file, "--state", "memory")
	manifest := body(t, "http://127.0.0.1:"+port+"/.well-known/agent-actions.json")
	m2, warnings, err := aam.ParseManifest([]byte(manifest))
	if err != nil || len(warnings) > 0 || len(m2.Actions) != 1 || m2.Actions[0].Description == "" {
		t.Errorf("%s %v %v", manifest, warnings, err)
	}
	if !strings.Contains(s.errs.String(), "http://127.0.0.1:"+port+"/.well-known/agent-actions.json") {
		t.Errorf("serve does not say where the site is: %s", s.errs)
	}
	m.do(1, "aam", "pin") // not at a terminal
	if !strings.Contains(m.err, "at a terminal only") {
		t.Error(m.err)
	}
	for name, config := range map[string]string{
		"off loopback": `{"listen":"0.0.0.0:0","origin":"http://127.0.0.1:1","site":{"name":"a","domain":"a"},"actions":[{"id":"a"}]}`,
		"no listen":    `{"origin":"http://127.0.0.1:1","site":{"name":"a","domain":"a"},"actions":[{"id":"a"}]}`,
		"own canvases": `{"listen":"127.0.0.1:0","origin":"http://127.0.0.1:1","site":{"name":"a","domain":"a"},"actions":[{"id":"a","extension":"aam","canvas":"aam-agents","instance":"x","action":"revoke"}]}`,
		"settle later": `{"listen":"127.0.0.1:0","origin":"http://127.0.0.1:1","site":{"name":"a","domain":"a"},"settle":"later","actions":[{"id":"a","pricing":{"type":"x402","amount":"1","currency":"USDC","network":"base","pay_to":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C"}}]}`,
	} {
		if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		m.do(2, "serve", "--aam-site", file, "--state", "memory")
		t.Logf("%s: %s", name, m.err)
	}
}

// TestAAMSettle: a payment that is kept is collected by the verb, once; the session's agent
// has no action for it.
func TestAAMSettle(t *testing.T) {
	t.Parallel()
	var settled atomic.Int64
	facilitator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/settle" {
			settled.Add(1)
			_, _ = w.Write([]byte(`{"success":true,"transaction":"0xabc","network":"base-sepolia"}`))
			return
		}
		_, _ = w.Write([]byte(`{"isValid":true}`))
	}))
	t.Cleanup(facilitator.Close)
	h := newAAMHost(t)
	raw, err := os.ReadFile(h.file)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte(`{"later":"5m"}`), []byte(`{"later":"5m","facilitator":"`+facilitator.URL+`"}`), 1)
	if err := os.WriteFile(h.file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	token, _ := h.grant(10)
	h.serve()
	if got := h.callCard(http.DefaultClient, token, "add_urgent_card", "Fire", newAAMAgent(t, h.origin).sign()); got != 200 {
		t.Fatal(got)
	}
	h.m.do(1, "invoke", "aam-agents", "collect")
	if !strings.Contains(h.m.err, "collect") || settled.Load() != 0 {
		t.Errorf("an agent's collect: %s, %d settled", h.m.err, settled.Load())
	}
	if out := h.m.do(0, "aam", "settle"); out != "1 collected, 0 failed, 0 with an unknown outcome\n" {
		t.Error(out)
	}
	if out := h.m.do(0, "aam", "settle", "--json"); !strings.Contains(out, `"collected":0`) || settled.Load() != 1 {
		t.Error(out, settled.Load())
	}
}
