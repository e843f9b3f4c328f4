package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// seeds are the messages of the exchanges.
func seeds(f *testing.F) {
	files, _ := filepath.Glob("testdata/exchanges/*.json")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var all []exchange
		if err := json.Unmarshal(text, &all); err != nil {
			f.Fatal(err)
		}
		for _, x := range all {
			for _, st := range x.Steps {
				if st.Page != nil {
					f.Add([]byte(st.Page))
				}
				if st.Host != nil {
					f.Add([]byte(st.Host))
				}
			}
		}
	}
}

// encode encodes a message; nil if the encoders cannot.
func encode(m *message) ahp.Value {
	switch m.kind {
	case request:
		return finish(appendRequest(m), m.data, m.end, nil)
	case response:
		return finish(appendHead(m.id, m.status, m.statusText, m.headers), m.data, m.end, m.trailers)
	case body:
		return finish(appendChunk(nil, "body", m.id, m.seq), m.data, m.end, m.trailers)
	case data:
		return finish(appendChunk(nil, "data", m.id, m.seq), m.data, m.end, m.trailers)
	case credit:
		return encodeAmounts("credit", m.id, m.bytes, m.lane)
	case grant:
		return encodeAmounts("grant", m.id, m.bytes, m.lane)
	}
	return nil
}

// FuzzDecode: a decoded message can be encoded, with the same meaning.
func FuzzDecode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		m, ours, bad := decode(payload)
		if !ours || bad != nil {
			return
		}
		again := encode(&m)
		if again == nil {
			return
		}
		if !again.IsValid() {
			t.Fatalf("%q was written as %q", payload, again)
		}
		m2, ours, bad := decode(again)
		if len(again) > maxMessage {
			return // it was written with fewer escapes than characters
		}
		if !ours || bad != nil || !bytes.Equal(encode(&m2), again) {
			t.Fatalf("%q was written as %q, which is %+v, %v", payload, again, m2, bad)
		}
	})
}

// FuzzServer: for any pair of messages, a View receives only http/1, and a valid
// request afterwards is answered.
func FuzzServer(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		heard := make(chan ahp.Value, 1<<10)
		s, err := NewServer(Options{
			Origin: "http://localhost", RoundTripper: memory{[]byte("ok")}, Gather: time.Hour, HeadTimeout: time.Hour,
			Send: func(_ canvas.View, p ahp.Value) error { heard <- p.Clone(); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.Message(context.Background(), testView, payload)
		s.Message(context.Background(), testView, payload)
		last := ahp.Value(`{"x-ahp":"http/1","type":"request","id":9007199254740991,"method":"GET","path":"/","headers":[],"end":true}`)
		if bytes.Contains(payload, []byte("9007199254740991")) {
			return
		}
		s.Message(context.Background(), testView, last)
		for {
			m, ours, bad := decode(<-heard)
			if !ours || bad != nil || m.kind != response && m.kind != data && m.kind != grant && m.kind != failure {
				t.Fatalf("the host said %+v, %v", m, bad)
			}
			if m.id == 1<<53-1 {
				if m.kind != response || m.status != 200 || string(m.data) != "ok" {
					t.Fatalf("the request was answered with %+v", m)
				}
				return
			}
		}
	})
}

// FuzzClient: for any message of a host, the client ends the request and keeps working.
func FuzzClient(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		sent := make(chan ahp.Value, 1<<10)
		c := NewClient(ClientOptions{Send: func(p ahp.Value) error { sent <- p; return nil }})
		defer c.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := c.RoundTrip(get(t, "/")); err == nil {
				_ = resp.Body.Close()
			}
		}()
		<-sent
		c.Message(payload)
		c.Message(payload)
		c.Message(ahp.Value(`{"x-ahp":"http/1","type":"error","id":1,"status":503,"code":"closed","message":""}`))
		<-done
	})
}
