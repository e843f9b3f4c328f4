package web_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// recording is everything that a relay received and sent. Both ends mask what they send to
// it, and it sends the same bytes on without a mask.
type recording struct {
	mu    sync.Mutex
	bytes []byte
}

func (r *recording) add(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes = append(r.bytes, b...)
}

// finds returns the first 8 bytes of text that stand in the recording, or "".
func (r *recording) finds(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range len(text) - 7 {
		if bytes.Contains(r.bytes, []byte(text[i:i+8])) {
			return text[i : i+8]
		}
	}
	return ""
}

type recordingListener struct {
	net.Listener
	all *recording
}

func (l recordingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return recordingConn{c, l.all}, nil
}

type recordingConn struct {
	net.Conn
	all *recording
}

func (c recordingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.all.add(b[:n])
	return n, err
}

func (c recordingConn) Write(b []byte) (int, error) {
	c.all.add(b)
	return c.Conn.Write(b)
}

// throughARelay uses a canvas in a page at a relay, sealed or clear, and returns what the
// relay saw, and what it must not see by name.
func throughARelay(t *testing.T, clear bool) (seen *recording, secrets map[string]string) {
	t.Helper()
	secrets = map[string]string{"title": rand.Text(), "path": rand.Text(), "message to the page": rand.Text(), "message of the page": rand.Text(), "input": rand.Text(), "content": rand.Text()}
	e := start(t, nil)
	e.open(t, site{id: "one", title: secrets["title"], input: object{"text": secrets["input"]}, files: map[string]string{
		"index.html":            `<!doctype html><html lang="en"><title>One</title><script type="module" src="/` + secrets["path"] + `.js"></script>`,
		secrets["path"] + ".js": `/* ` + secrets["content"] + ` */ import { onMessage, send } from "/.ahp/canvas.js"; onMessage((v) => send({ back: v.there })); await send({ ready: true });`,
	}})
	code, _, err := e.host.AccessTokens().Create(token.Request{Kind: token.Invitation, Name: "a person", Role: host.RoleView})
	if err != nil {
		t.Fatal(err)
	}
	key := seal.NewKey()
	seen = &recording{}
	link := startRelayWith(t, e.host, seal.NewHost(key, "laptop", clear), seen) + "/#tkn=relay-token&host=laptop"
	if !clear {
		link += "&key=" + key.Public().String()
	}
	p := webtest.Start(t).Open(t, web.InvitationAt(link, code))
	e.message(t, func(payload any) bool { m, ok := payload.(object); return ok && m["ready"] == true })
	e.send(t, "one", object{"there": secrets["message to the page"]})
	e.message(t, func(payload any) bool {
		m, ok := payload.(object)
		return ok && m["back"] == secrets["message to the page"]
	})
	secrets["message of the page"] = `"back":"` + secrets["message to the page"]
	secrets["invitation"] = code
	secrets["token of the browser"] = webtest.Eval[string](t, p, `localStorage.getItem("person laptop")`)
	p.Navigate(t, "about:blank")
	return seen, secrets
}

// TestARelaySeesNothing: of nothing that a page and a host send each other does a relay see
// 8 bytes. The same test of a clear connection finds each.
func TestARelaySeesNothing(t *testing.T) {
	for _, clear := range []bool{false, true} {
		seen, secrets := throughARelay(t, clear)
		for name, text := range secrets {
			if found := seen.finds(text); (found != "") != clear {
				t.Errorf("clear %v: the relay sees %q of the %s", clear, found, name)
			}
		}
		if seen.finds("relay-token") == "" {
			t.Error("the recording is not complete")
		}
	}
}

// TestAPageAtARelaySaysWhy: a page that does not get a sealed connection says why, and
// shows nothing.
func TestAPageAtARelaySaysWhy(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	origin := startRelayWith(t, e.host, seal.NewHost(seal.NewKey(), "laptop", false), &recording{})
	b := webtest.Start(t)
	for key, want := range map[string]string{
		"": "This link has no key.",
		"&key=" + seal.NewKey().Public().String(): "This relay is not passing on what the host sent.",
		"&key=abc": "The link is not complete.",
	} {
		p := b.Open(t, origin+"/#tkn=relay-token&host=laptop"+key)
		p.Wait(t, fmt.Sprintf("(%s + document.body.innerText).includes(%q)", words, want))
		p.Close()
	}
}
