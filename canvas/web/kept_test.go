package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestWithoutStorage: the page works if storage is not allowed or full, and still
// removes the token from the address bar.
func TestWithoutStorage(t *testing.T) {
	for name, refusal := range map[string]string{
		"refused": `for (const s of ["localStorage", "sessionStorage"]) Object.defineProperty(window, s, { get() { throw new DOMException("denied", "SecurityError"); } });`,
		"full":    `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };`,
	} {
		t.Run(name, func(t *testing.T) {
			refused := func(next http.Handler) http.Handler { return rewritten(next, "/first.js", "// @ts-check", refusal) }
			p := webtest.Start(t).Open(t, start(t, refused, helloSite("one"), helloSite("two")).link)
			shown(t, p, 2)
			if got := webtest.Eval[string](t, p, `location.href`); strings.Contains(got, viewToken) {
				t.Errorf("the address bar still has the token: %s", got)
			}
			p.Click(t, "#theme")
			p.Click(t, "#theme")
			p.Wait(t, `document.documentElement.dataset.colorMode === "dark" && document.getElementById("theme").textContent === "Theme: dark"`)
			focus(t, p, "Hello one", ".later")
			p.Keys(t, "\r")
			p.Wait(t, titles+` === "two,one two,one"`)
		})
	}
}

// TestAnotherLink: a link opened in the page's own tab is used, although the browser
// loads nothing for it.
func TestAnotherLink(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.origin+"/#tkn=wrong")
	p.Wait(t, fmt.Sprintf("(%s).includes(%q)", words, "The link is not valid here."))
	webtest.Eval[any](t, p, fmt.Sprintf(`void (location.href = %q)`, e.link))
	for range 50 { // a wait ends with the page that it began in
		if p.WaitAtMost(webtest.Timeout/50, `document.querySelector(".card .words[hidden]")`) {
			break
		}
	}
	shown(t, p, 1)
	if got := webtest.Eval[string](t, p, `location.href`); strings.Contains(got, viewToken) {
		t.Errorf("the address bar still has the token: %s", got)
	}
}

// TestInvitationLink: the page exchanges an invitation for a token of the browser, which
// a new tab has too, and takes it out of the address. A second browser learns when the link
// was used.
func TestInvitationLink(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	link, err := e.host.Invite(host.DefaultSession, host.RoleView, "a person")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(link, "#")
	b := webtest.Start(t)
	p := b.Open(t, e.origin+"/#"+code)
	shown(t, p, 1)
	if got := webtest.Eval[string](t, p, `location.href`); strings.Contains(got, "invite") {
		t.Errorf("the address bar still has the invitation: %s", got)
	}
	webtest.Eval[any](t, p, `sessionStorage.clear()`) // a new tab has none
	p.Reload(t)
	shown(t, p, 1)
	if tokens := e.host.AccessTokens().List(); len(tokens) != 2 {
		t.Errorf("tokens %+v, want the used invitation and the browser's", tokens)
	}
	stranger := b.Open(t, e.origin+"/#"+code)
	stranger.Wait(t, fmt.Sprintf("(%s + document.body.innerText).includes(%q)", words, "This link was used already, at "))
}

// TestSkip: the skip link keeps host and session in the address, which a reload needs.
func TestSkip(t *testing.T) {
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/#session=ahp-session%3A%2Fx&host=y")
	p.Keys(t, "\t\r")
	p.Wait(t, `document.activeElement.id === "canvases"`)
	if got := webtest.Eval[string](t, p, `location.hash`); got != "#session=ahp-session%3A%2Fx&host=y" {
		t.Errorf("the address says %s", got)
	}
}
