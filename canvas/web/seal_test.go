package web_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// sealedEcho adds an endpoint to a host that seals each WebSocket and returns its messages.
// A text that is a number n makes it send the texts of n messages first.
type sealedEcho struct {
	host *seal.Host
	key  seal.Key
	wg   sync.WaitGroup
}

func newSealedEcho() *sealedEcho {
	key := seal.NewKey()
	return &sealedEcho{host: seal.NewHost(key, "laptop", false), key: key}
}

func (e *sealedEcho) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/echo" {
			next.ServeHTTP(w, r)
			return
		}
		c, err := ws.Upgrade(w, r, ws.Options{ReadLimit: 8 << 20})
		if err != nil {
			return
		}
		e.wg.Add(1)
		defer e.wg.Done()
		defer c.Wait()
		defer c.Close(ws.CodeNormal, "")
		if e.host.Accept(r.Context(), c, "page") != nil {
			return
		}
		for {
			m, err := c.ReadMessage()
			if err != nil || c.WriteBatch([][]byte{m}) != nil {
				return
			}
		}
	})
}

// sealedPage opens a page at a host with the endpoint.
func sealedPage(t *testing.T) (*sealedEcho, *webtest.Page) {
	t.Helper()
	echo := newSealedEcho()
	e := start(t, echo.wrap)
	p := webtest.Start(t).Open(t, e.origin+"/")
	t.Cleanup(func() {
		p.Navigate(t, "about:blank")
		echo.wg.Wait()
	})
	return echo, p
}

// dialSealed is the page's socket to the endpoint, opened.
const dialSealed = `const { SealedSocket } = await import("./seal.js");
	const { decodeKey } = await import("./noise.js");
	const s = new SealedSocket(new URL("/echo", location.href.replace("http", "ws")), ["ahp"], decodeKey(%q), %q);
	const closed = new Promise((ok) => { s.onclose = ({ code }) => ok(code); });
	const open = new Promise((ok) => { s.onopen = () => ok(0); });
	`

// TestSealedMessagesOfAPage: messages of all sizes, from nothing to 4 MiB, go from the page
// to a Go host and back, many at a time, and arrive in order.
func TestSealedMessagesOfAPage(t *testing.T) {
	echo, p := sealedPage(t)
	count := 150
	if long {
		count = 10_000
	}
	random := rand.New(rand.NewPCG(3, 4))
	sizes := []int{0, 1, 65503, 65504, 65516, 65517, 65519, 200_000, 4 << 20, 0}
	for len(sizes) < count {
		sizes = append(sizes, int(math.Exp(random.Float64()*math.Log(4<<20)))-1)
	}
	opened := webtest.Eval[int](t, p, fmt.Sprintf(`(async () => {`+dialSealed+`
	window.sealed = s;
	return Promise.race([open, closed]);
})()`, echo.key.Public(), "laptop"))
	if opened != 0 {
		t.Fatalf("closed with %d", opened)
	}
	for part := range slices.Chunk(sizes, 50) { // a page answers within a limit
		if wrong := webtest.Eval[string](t, p, fmt.Sprintf(exchangeSealed, strings.Join(strings.Fields(fmt.Sprint(part)), ","))); wrong != "" {
			t.Fatal(wrong)
		}
	}
}

// exchangeSealed sends texts of sizes over the page's socket, and returns "" once it has
// received each.
const exchangeSealed = `(async (sizes) => {
	const words = "sealed ünïcode 𝄞 text ".repeat(220_000);
	const texts = sizes.map((n, i) => words.slice(i %% 7, i %% 7 + n).toWellFormed());
	let next = 0, back = 0;
	const send = () => { while (next < texts.length && next < back + 12) window.sealed.send(texts[next++]); };
	return new Promise((done) => {
		window.sealed.onclose = ({ code }) => done("closed " + code + " after " + back);
		window.sealed.onmessage = ({ data }) => {
			if (data !== texts[back]) return done("message " + back + " differs: " + data.length + " characters, want " + texts[back].length);
			if (++back === texts.length) return done("");
			send();
		};
		send();
	});
})(%s)`

// TestAPageAndAnotherHost: a page does not connect to a host that has another key or name.
func TestAPageAndAnotherHost(t *testing.T) {
	echo, p := sealedPage(t)
	for name, id := range map[string]seal.Identity{
		"another key":  {Host: "laptop", Key: seal.NewKey().Public()},
		"another name": {Host: "desktop", Key: echo.key.Public()},
	} {
		got := webtest.Eval[int](t, p, fmt.Sprintf(`(async () => {`+dialSealed+`
	return Promise.race([open, closed]);
})()`, id.Key, id.Host))
		if got != int(ws.CodeSealBroken) {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// tampered adds an endpoint that passes a page's frames on to /echo, and changes the fourth
// frame that it passes back, in the way that the query names.
func tampered(origin *string) func(http.Handler) http.Handler {
	var held []byte
	attacks := map[string]func(b []byte, c *ws.Conn){
		"moved":    func(b []byte, _ *ws.Conn) { held = b },
		"changed":  func(b []byte, c *ws.Conn) { b[len(b)/2] ^= 1; _ = c.WriteBinary(b) },
		"dropped":  func([]byte, *ws.Conn) {},
		"repeated": func(b []byte, c *ws.Conn) { _ = c.WriteBinary(b); _ = c.WriteBinary(b) },
		"cut":      func(b []byte, c *ws.Conn) { _ = c.WriteBinary(b[:len(b)-1]) },
		"empty":    func(_ []byte, c *ws.Conn) { _ = c.WriteBinary(nil) },
		"clear":    func(_ []byte, c *ws.Conn) { _ = c.WriteBatch([][]byte{[]byte("injected")}) },
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/tampered" {
				next.ServeHTTP(w, r)
				return
			}
			page, err := ws.Upgrade(w, r, ws.Options{})
			if err != nil {
				return
			}
			host, err := ws.Dial(r.Context(), strings.Replace(*origin, "http", "ws", 1)+"/echo", ws.DialOptions{})
			if err != nil {
				page.Close(ws.CodeInternal, "")
				return
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for b, err := page.ReadBinary(1 << 16); err == nil; b, err = page.ReadBinary(1 << 16) {
					_ = host.WriteBinary(b)
				}
				host.Close(ws.CodeNormal, "")
			}()
			for n := 0; ; n++ {
				b, err := host.ReadBinary(1 << 16)
				if err != nil {
					break
				}
				if n == 3 {
					attacks[r.URL.RawQuery](b, page)
					continue
				}
				_ = page.WriteBinary(b)
				if held != nil {
					_ = page.WriteBinary(held)
					held = nil
				}
			}
			page.Close(ws.CodeNormal, "")
			<-done
			page.Wait()
			host.Wait()
		})
	}
}

// TestAPageAndAChangedFrame: whatever a relay does to a frame, the page closes with 4009
// and delivers nothing of it or behind it.
func TestAPageAndAChangedFrame(t *testing.T) {
	echo := newSealedEcho()
	var origin string
	e := start(t, func(next http.Handler) http.Handler { return tampered(&origin)(echo.wrap(next)) })
	origin = e.origin
	p := webtest.Start(t).Open(t, e.origin+"/")
	t.Cleanup(func() {
		p.Navigate(t, "about:blank")
		echo.wg.Wait()
	})
	for how, want := range map[string]string{
		"changed": "4009,0,1", "repeated": "4009,0,1,2", "cut": "4009,0,1", "empty": "4009,0,1", "clear": "4009,0,1",
		"dropped": "4009,0,1", // what is behind it does not follow
		"moved":   "4009,0,1",
	} {
		got := webtest.Eval[string](t, p, fmt.Sprintf(`(async () => {`+strings.Replace(dialSealed, "/echo", "/tampered?"+how, 1)+`
	await open;
	const got = [];
	s.onmessage = ({ data }) => {
		got.push(data);
		s.send(String(got.length));
		if (got.length === 2) setTimeout(() => s.send("behind"), 200);
	};
	s.send("0");
	return [await closed, ...got].join();
})()`, echo.key.Public(), "laptop"))
		if got != want {
			t.Errorf("%s: %s, want %s", how, got, want)
		}
	}
}
