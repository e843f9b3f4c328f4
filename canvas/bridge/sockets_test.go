package bridge

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// socketExchange is an element of a file in testdata/sockets (PROTOCOL.md section 9).
type socketExchange struct {
	About string       `json:"about"`
	Steps []socketStep `json:"steps"`
}

type socketStep struct {
	Page ahp.Value      `json:"page"`
	Host ahp.Value      `json:"host"` // null: the host sends nothing now
	App  *socketAppStep `json:"app"`
	Wait string         `json:"wait"`
}

type socketAppStep struct {
	N    int `json:"n"`
	Gets *struct {
		Path      string `json:"path"`
		Protocols string `json:"protocols"`
	} `json:"gets"`
	Accepts    *string     `json:"accepts"`
	Refuses    int         `json:"refuses"`
	Reads      *socketText `json:"reads"`
	Writes     *socketText `json:"writes"`
	Closes     *socketCode `json:"closes"`
	ReadsClose *socketCode `json:"readsClose"`
	Breaks     bool        `json:"breaks"`
}

type socketText struct {
	Text   json.RawMessage `json:"text"`
	Binary json.RawMessage `json:"binary"`
}

type socketCode struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

// bytes returns the type and content of a message.
func (m *socketText) bytes(t *testing.T) (int, string) {
	if m.Text != nil {
		return websocket.TextMessage, filled(t, m.Text)
	}
	s := filled(t, m.Binary)
	if raw, err := base64.StdEncoding.DecodeString(s); err == nil && m.Binary[0] == '"' {
		s = string(raw)
	}
	return websocket.BinaryMessage, s
}

// socketApp is an app that follows the steps, on pipes.
type socketApp struct {
	server   http.Server
	accepted chan net.Conn

	mu       sync.Mutex
	requests []*socketRequest
}

type socketRequest struct {
	r      *http.Request
	answer chan func(http.ResponseWriter)
	conn   *websocket.Conn
}

func newSocketApp() *socketApp {
	a := &socketApp{accepted: make(chan net.Conn)}
	a.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := &socketRequest{r: r, answer: make(chan func(http.ResponseWriter))}
		a.mu.Lock()
		a.requests = append(a.requests, req)
		a.mu.Unlock()
		select {
		case answer := <-req.answer:
			answer(w)
		case <-r.Context().Done():
		}
	})
	return a
}

func (a *socketApp) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case a.accepted <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// The app is its own listener.
func (a *socketApp) Accept() (net.Conn, error) {
	if conn := <-a.accepted; conn != nil {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (a *socketApp) Close() error   { close(a.accepted); return nil }
func (a *socketApp) Addr() net.Addr { return &net.TCPAddr{} }

func (a *socketApp) run(t *testing.T, st *socketAppStep) {
	t.Helper()
	a.mu.Lock()
	if st.N > len(a.requests) {
		t.Fatalf("the app has no WebSocket %d", st.N)
	}
	req := a.requests[st.N-1]
	a.mu.Unlock()
	switch {
	case st.Gets != nil:
		h := req.r.Header
		if req.r.URL.RequestURI() != st.Gets.Path || h.Get("Sec-Websocket-Protocol") != st.Gets.Protocols {
			t.Errorf("the app got %s, %v", req.r.URL, h)
		}
		if req.r.Host != "127.0.0.1:3000" || h.Get("Origin") != "http://127.0.0.1:3000" || h.Get("Sec-Websocket-Extensions") != "" {
			t.Errorf("the app got the host %s and %v", req.r.Host, h)
		}
	case st.Accepts != nil:
		req.answer <- func(w http.ResponseWriter) {
			u := websocket.Upgrader{}
			if *st.Accepts != "" {
				u.Subprotocols = []string{*st.Accepts}
			}
			req.conn, _ = u.Upgrade(w, req.r, nil)
		}
	case st.Refuses != 0:
		req.answer <- func(w http.ResponseWriter) { w.WriteHeader(st.Refuses) }
	default:
		req.run(t, st)
	}
}

// run performs a step of an accepted WebSocket.
func (req *socketRequest) run(t *testing.T, st *socketAppStep) {
	t.Helper()
	switch {
	case st.Reads != nil:
		kind, want := st.Reads.bytes(t)
		if got, text, err := req.conn.ReadMessage(); got != kind || string(text) != want || err != nil {
			t.Errorf("the app read %d %.100q, %v, want %d %.100q", got, text, err, kind, want)
		}
	case st.Writes != nil:
		kind, text := st.Writes.bytes(t)
		go func() { _ = req.conn.WriteMessage(kind, []byte(text)) }() // it can wait for the host
	case st.Closes != nil:
		code := st.Closes.Code
		if code == 0 {
			code = closeNoCode
		}
		_ = req.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, st.Closes.Reason), time.Now().Add(time.Second))
		_, _, _ = req.conn.ReadMessage() // the host's answer
	case st.ReadsClose != nil:
		_, _, err := req.conn.ReadMessage()
		e, ok := err.(*websocket.CloseError)
		if !ok || e.Code != st.ReadsClose.Code || e.Text != st.ReadsClose.Reason {
			t.Errorf("the app read %v", err)
		}
	case st.Breaks:
		_ = req.conn.Close()
	}
}

func socketExchanges(t *testing.T) map[string][]socketExchange {
	t.Helper()
	files, _ := filepath.Glob("testdata/sockets/*.json")
	found := map[string][]socketExchange{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		var all []socketExchange
		if err := dec.Decode(&all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		found[file] = all
	}
	if len(found) == 0 {
		t.Fatal("no exchanges")
	}
	return found
}

func TestSocketExchanges(t *testing.T) {
	for _, all := range socketExchanges(t) {
		for _, x := range all {
			t.Run(x.About, func(t *testing.T) { synctest.Test(t, x.run) })
		}
	}
}

// socketRig is a Sockets with its app, and the messages that the page has not taken yet.
type socketRig struct {
	*Sockets
	app *socketApp

	mu   sync.Mutex
	sent []ahp.Value
}

func newSocketRig(t *testing.T) *socketRig {
	t.Helper()
	rig := &socketRig{app: newSocketApp()}
	s, err := NewSockets(SocketOptions{Origin: "http://127.0.0.1:3000", Dial: rig.app.dial, Send: func(_ canvas.View, p ahp.Value) error {
		if len(p) > maxMessage {
			t.Errorf("a message has %d bytes", len(p))
		}
		rig.mu.Lock()
		defer rig.mu.Unlock()
		rig.sent = append(rig.sent, p.Clone())
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	rig.Sockets = s
	go func() { _ = rig.app.server.Serve(rig.app) }()
	t.Cleanup(func() {
		rig.Close()
		_ = rig.app.server.Close()
		for _, r := range rig.app.requests {
			if r.conn != nil {
				_ = r.conn.Close() // hijacked
			}
		}
	})
	return rig
}

// next returns the next message to the page.
func (rig *socketRig) next() ahp.Value {
	rig.mu.Lock()
	defer rig.mu.Unlock()
	if len(rig.sent) == 0 {
		return nil
	}
	p := rig.sent[0]
	rig.sent = rig.sent[1:]
	return p
}

func (x *socketExchange) run(t *testing.T) {
	rig := newSocketRig(t)
	for n, st := range x.Steps {
		switch {
		case st.Page != nil:
			if !rig.Message(t.Context(), testView, expand(t, st.Page)) {
				t.Fatalf("step %d was not taken for ws/1", n+1)
			}
		case st.App != nil:
			rig.app.run(t, st.App)
		case st.Wait != "":
			d, err := time.ParseDuration(st.Wait)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		default:
			got := rig.next()
			for strings.Contains(string(got), `"grant"`) && !strings.Contains(string(st.Host), `"grant"`) {
				got = rig.next() // when the host grants depends on what it has read
			}
			if string(st.Host) == "null" || st.Host == nil {
				if got != nil {
					t.Fatalf("step %d: the host sent %.300s", n+1, got)
				}
			} else if want := expand(t, st.Host); !ahp.Equal(got, want) {
				t.Fatalf("step %d: the host sent\n %.300s\nwant\n %.300s", n+1, got, want)
			}
		}
		synctest.Wait()
	}
	for p := rig.next(); p != nil; p = rig.next() {
		if !strings.Contains(string(p), `"grant"`) {
			t.Errorf("the host also sent %.300s", p)
		}
	}
}

// TestSocketGrantsAreFew: the host gives a WebSocket's window back in pieces, not after each
// message of a page that waits for an answer to it.
func TestSocketGrantsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := newSocketRig(t)
		say := func(m string) {
			rig.Message(t.Context(), testView, ahp.Value(m))
			synctest.Wait()
		}
		say(`{"x-ahp":"ws/1","type":"open","id":1,"path":"/"}`)
		rig.app.run(t, &socketAppStep{N: 1, Accepts: new("")})
		synctest.Wait()
		conn := rig.app.requests[0].conn
		go func() {
			for _, _, err := conn.ReadMessage(); err == nil; {
				_, _, err = conn.ReadMessage()
			}
		}()
		const size = 1000
		data := base64.StdEncoding.EncodeToString(make([]byte, size))
		for seq := range 3 * ackSocket / (size + partCost) {
			say(fmt.Sprintf(`{"x-ahp":"ws/1","type":"send","id":1,"seq":%d,"binary":true,"data":%q}`, seq, data))
		}
		grants := 0
		for p := rig.next(); p != nil; p = rig.next() {
			if strings.Contains(string(p), `"type":"grant","id":1,`) {
				grants++
			}
		}
		if grants != 2 { // the third piece is not full
			t.Errorf("%d grants", grants)
		}
	})
}

func compileSocketSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("ws.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("ws.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("ws.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSocketSchema: the schema agrees with the decoder about the page's messages, and
// accepts all messages of the host and the examples of PROTOCOL.md.
func TestSocketSchema(t *testing.T) {
	schema := compileSocketSchema(t)
	valid, invalid := 0, 0
	page := func(said ahp.Value) {
		m, ours, err := decodeSocket(said)
		good := ours && err == nil && m.kind != socketUnknown
		if validates(t, schema, said) != good {
			t.Errorf("the schema and the decoder (%v) do not agree about %.200s", err, said)
		}
		if good {
			valid++
		} else {
			invalid++
		}
	}
	for _, all := range socketExchanges(t) {
		for _, x := range all {
			for _, st := range x.Steps {
				large := bytes.Contains(st.Page, []byte("fill")) || bytes.Contains(st.Host, []byte("fill")) // a pattern over 43 KB is slow
				if st.Page != nil && !large {
					page(st.Page)
				} else if st.Host != nil && string(st.Host) != "null" && !large && !validates(t, schema, st.Host) {
					t.Errorf("the host sends a bad message: %.200s", st.Host)
				}
			}
		}
	}
	for _, bad := range []string{
		`"type":"open","id":1`, `"type":"open","id":1,"path":"x"`, `"type":"open","id":1,"path":"/","protocols":["a","a"]`, `"type":"open","id":1,"path":"/","protocols":["a b"]`,
		`"type":"open","id":1,"path":"/","protocols":"a"`, `"type":"open","id":1,"path":"/","host":""`, `"type":"open","id":0,"path":"/"`, `"type":"send","id":1`, `"type":"send","id":1,"seq":-1`,
		`"type":"send","id":1,"seq":0,"binary":1`, `"type":"send","id":1,"seq":0,"data":"eA"`, `"type":"close","id":1,"code":1002`, `"type":"close","id":1,"code":5000`, `"type":"close","id":1,"reason":"x"`,
		`"type":"close","id":1,"code":1000,"reason":"` + strings.Repeat("x", 124) + `"`, `"type":"credit","id":1,"bytes":0`,
	} {
		page(ahp.Value(`{"x-ahp":"ws/1",` + bad + `}`))
	}
	if valid < 30 || invalid < 15 {
		t.Errorf("there were %d good and %d bad messages", valid, invalid)
	}
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, `{"x-ahp":"ws/1"`) {
			n++
			if !validates(t, schema, ahp.Value(line)) {
				t.Errorf("the example is not valid: %s", line)
			}
		}
	}
	if n < 8 {
		t.Errorf("found %d examples", n)
	}
}

// TestSocketsEnd: a View that disconnects and a Server that closes end the app's
// connections with code 1001. The View that disconnected receives nothing more.
func TestSocketsEnd(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(*socketRig)
		want string
	}{
		{"the View disconnects", func(rig *socketRig) { rig.ViewGone(testView) }, ""},
		{"the server closes", func(rig *socketRig) { rig.Close() }, `{"x-ahp":"ws/1","type":"closed","id":1,"code":1006,"error":"closed","message":"the canvas is closing"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := newSocketRig(t)
				rig.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"ws/1","type":"open","id":1,"path":"/"}`))
				synctest.Wait()
				rig.app.run(t, &socketAppStep{N: 1, Accepts: new(string)})
				synctest.Wait()
				rig.next()
				go test.end(rig)
				_, _, err := rig.app.requests[0].conn.ReadMessage()
				if !websocket.IsCloseError(err, closeGoingAway) {
					t.Errorf("the app read %v", err)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if got := string(rig.next()); got != test.want {
					t.Errorf("the View got %s", got)
				}
				if got := string(rig.next()); got != "" {
					t.Errorf("the View also got %s", got)
				}
			})
		})
	}
}

// TestSocketsLimit: the View's 65th WebSocket is refused, and another one works after one
// has ended.
func TestSocketsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := newSocketRig(t)
		open := func(id string) {
			rig.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"ws/1","type":"open","path":"/","id":`+id+`}`))
			synctest.Wait()
		}
		for id := range 64 {
			open(string(ahp.MustMarshal(id + 1)))
		}
		if got := rig.next(); got != nil {
			t.Fatalf("the host sent %s", got)
		}
		open("65")
		if got := string(rig.next()); !strings.Contains(got, `"id":65,"code":1006,"error":"busy"`) {
			t.Errorf("the host sent %s", got)
		}
		rig.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"ws/1","type":"close","id":1}`))
		synctest.Wait()
		rig.next()
		open("66")
		if got := rig.next(); got != nil {
			t.Errorf("the host sent %s", got)
		}
	})
}
