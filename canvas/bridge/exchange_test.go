package bridge

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// exchange is an element of a file in testdata/exchanges (PROTOCOL.md section 8).
type exchange struct {
	About string `json:"about"`
	Steps []step `json:"steps"`
}

// step is one step; exactly one member is set.
type step struct {
	Page ahp.Value `json:"page"` // the page sends
	Host ahp.Value `json:"host"` // the host's next message
	App  *appStep  `json:"app"`
	Wait string    `json:"wait"` // time passes
}

// appStep is what the app receives and does for its request N, counted from 1.
type appStep struct {
	N        int             `json:"n"`
	Gets     *appRequest     `json:"gets"`
	Reads    json.RawMessage `json:"reads"`     // of the body, exactly
	BodyEnds bool            `json:"bodyEnds"`  // at its end
	Answers  *appAnswer      `json:"answers"`   // with a head
	Writes   json.RawMessage `json:"writes"`    // of the answer's body
	Ends     bool            `json:"ends"`      // the answer's body
	Trailers [][2]string     `json:"trailers"`  // with the end
	Breaks   bool            `json:"breaks"`    // its connection is lost
	Refuses  bool            `json:"refuses"`   // the connection
	Canceled bool            `json:"cancelled"` // its request is canceled
}

type appRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Host    string            `json:"host"`
	Headers map[string]string `json:"headers"` // these at least
	Absent  []string          `json:"absent"`
}

type appAnswer struct {
	Status  int         `json:"status"`
	Text    string      `json:"text"`
	Headers [][2]string `json:"headers"`
}

// script is an app that follows the steps.
type script struct {
	mu       sync.Mutex
	requests []*scripted
}

type scripted struct {
	req    *http.Request
	head   chan *http.Response
	broken chan error
	body   *bodyBuffer
	resp   *http.Response
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	r := &scripted{req: req, head: make(chan *http.Response, 1), broken: make(chan error, 1), body: newBodyBuffer(-1, func(int64) {})}
	r.body.window = 1 << 40
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	context.AfterFunc(req.Context(), func() { r.body.fail(req.Context().Err(), true) })
	select {
	case resp := <-r.head:
		return resp, nil
	case err := <-r.broken:
		return nil, err
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func (s *script) at(n int) *scripted {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 1 || n > len(s.requests) {
		return nil
	}
	return s.requests[n-1]
}

// run performs or checks one step of the app.
func (s *script) run(t *testing.T, a *appStep) {
	t.Helper()
	r := s.at(a.N)
	if r == nil {
		t.Fatalf("the app has no request %d", a.N)
	}
	switch {
	case a.Gets != nil:
		a.Gets.check(t, r.req)
	case a.Reads != nil:
		want := filled(t, a.Reads)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(r.req.Body, got); err != nil || string(got) != want {
			t.Fatalf("the app read %.100q, %v", got, err)
		}
	case a.BodyEnds:
		if n, err := r.req.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Fatalf("the body did not end: %d, %v", n, err)
		}
	case a.Answers != nil:
		r.answer(a.Answers)
	case a.Writes != nil:
		_ = r.body.first([]byte(filled(t, a.Writes)), false)
	case a.Ends:
		for _, h := range a.Trailers {
			r.resp.Trailer.Add(h[0], h[1])
		}
		_ = r.body.first(nil, true)
	case a.Breaks:
		r.broken <- io.ErrUnexpectedEOF
		r.body.fail(io.ErrUnexpectedEOF, false)
	case a.Refuses:
		r.broken <- syscall.ECONNREFUSED
	case a.Canceled:
		if r.req.Context().Err() == nil {
			t.Fatal("the app's request was not canceled")
		}
	}
}

func (r *scripted) answer(a *appAnswer) {
	h := http.Header{}
	for _, e := range a.Headers {
		h.Add(e[0], e[1])
	}
	r.resp = &http.Response{
		Status: a.Text, StatusCode: a.Status, Header: h, Body: r.body, ContentLength: -1, Trailer: http.Header{}, Request: r.req,
	}
	r.head <- r.resp
}

func (g *appRequest) check(t *testing.T, req *http.Request) {
	t.Helper()
	if req.Method != g.Method || req.URL.RequestURI() != g.Path || g.Host != "" && req.Host != g.Host {
		t.Errorf("the app got %s %s of %s", req.Method, req.URL.RequestURI(), req.Host)
	}
	for name, want := range g.Headers {
		if got := strings.Join(req.Header.Values(name), ", "); got != want {
			t.Errorf("the app got %s %q, want %q", name, got, want)
		}
	}
	for _, name := range g.Absent {
		if req.Header[http.CanonicalHeaderKey(name)] != nil {
			t.Errorf("the app got %s", name)
		}
	}
}

// filled is a string, or {"fill": n} for n times the letter x.
func filled(t *testing.T, v json.RawMessage) string {
	t.Helper()
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	var f struct{ Fill int }
	if err := json.Unmarshal(v, &f); err != nil {
		t.Fatal(err)
	}
	return strings.Repeat("x", f.Fill)
}

// expand replaces {"fill": n} in a message; in data it becomes base64.
func expand(t *testing.T, v ahp.Value) ahp.Value {
	t.Helper()
	if !bytes.Contains(v, []byte(`"fill"`)) {
		return v
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(v, &m); err != nil {
		return v
	}
	for name, member := range m {
		if !bytes.Contains(member, []byte(`"fill"`)) {
			continue
		}
		switch name {
		case "data":
			m[name], _ = json.Marshal(base64.StdEncoding.EncodeToString([]byte(filled(t, member))))
		case "path":
			m[name], _ = json.Marshal("/" + filled(t, member))
		case "headers":
			m[name], _ = json.Marshal([][2]string{{"x-fill", filled(t, member)}})
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/exchanges/*.json")
	if err != nil || len(files) < 6 {
		t.Fatalf("found %d exchanges, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []exchange
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, x := range all {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json")+"/"+x.About, func(t *testing.T) {
				synctest.Test(t, x.run)
			})
		}
	}
}

func (x *exchange) run(t *testing.T) {
	app := &script{}
	var mu sync.Mutex
	var sent []ahp.Value
	s, err := NewServer(Options{Origin: "http://127.0.0.1:3000", RoundTripper: app, Send: func(_ canvas.View, p ahp.Value) error {
		if len(p) > maxMessage {
			return errors.New("too large")
		}
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, p.Clone())
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	// next returns the first message of an id, because messages of different requests
	// have no order. 0 returns any.
	next := func(id int64) ahp.Value {
		mu.Lock()
		defer mu.Unlock()
		for i, p := range sent {
			if m, _, _ := decode(p); id == 0 || m.id == id {
				sent = slices.Delete(sent, i, i+1)
				return p
			}
		}
		return nil
	}
	defer s.Close()
	for n, st := range x.Steps {
		switch {
		case st.Page != nil:
			if !s.Message(t.Context(), testView, expand(t, st.Page)) {
				t.Fatalf("step %d was not taken for http/1", n+1)
			}
		case st.Host != nil:
			want := expand(t, st.Host)
			m, _, _ := decode(want)
			if got := next(m.id); !ahp.Equal(got, want) {
				t.Fatalf("step %d: the host said\n %.300s\nwant\n %.300s", n+1, got, want)
			}
		case st.Wait != "":
			d, err := time.ParseDuration(st.Wait)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		case st.App != nil:
			app.run(t, st.App)
		}
		synctest.Wait()
	}
	if more := next(0); more != nil {
		t.Errorf("the host said more: %.300s", more)
	}
}
