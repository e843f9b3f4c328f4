package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

type said struct {
	Text string `json:"text"`
}

func (said) ActionType() string { return "ahp-toy/said" }

// toys returns a log with channels of a toy kind.
func toys(t *testing.T, uris ...string) *channels.Log {
	t.Helper()
	return toysOn(t, channels.New(channels.Options{}), uris...)
}

// toysOn creates channels of a toy kind in a log.
func toysOn(t *testing.T, log *channels.Log, uris ...string) *channels.Log {
	t.Helper()
	log.AddKind(&channels.Kind{
		Scheme:  "ahp-toy",
		Actions: ahp.NewActionTable(ahp.Row[said](ahp.FromHost | ahp.FromClient)),
		Reduce: func(s channels.State, _ ahp.Action) (channels.State, channels.Outcome, error) {
			return s, channels.Signal, nil
		},
	})
	for _, uri := range uris {
		if err := log.Update(func(tx *channels.Tx) error { return tx.Create(uri, "", nil) }); err != nil {
			t.Fatal(err)
		}
	}
	return log
}

// manySubscribers serves a host with one channel to n connections, all subscribed.
func manySubscribers(t *testing.T, n int) (log *channels.Log, all []*ws.Conn) {
	t.Helper()
	log = toys(t, "ahp-toy:/a")
	s := server.New(server.Options{Log: log})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := ws.Upgrade(w, r, ws.Options{}); err == nil {
			s.Serve(c, ws.Grant{})
		}
	}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	for i := range n {
		c, err := ws.Dial(t.Context(), "ws"+strings.TrimPrefix(web.URL, "http"), ws.DialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Wait)
		t.Cleanup(func() { c.Close(ws.CodeNormal, "") })
		sendText(t, c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.6.0"],"clientId":"c%d","initialSubscriptions":["ahp-toy:/a"]}}`, i)
		expect(t, c, `"id":0`)
		all = append(all, c)
	}
	return log, all
}

func sendText(t *testing.T, c *ws.Conn, format string, args ...any) {
	t.Helper()
	if err := c.WriteBatch([][]byte{fmt.Appendf(nil, format, args...)}); err != nil {
		t.Fatal(err)
	}
}

// expect fails unless the next message contains a text.
func expect(t *testing.T, c *ws.Conn, want string) {
	t.Helper()
	m, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(m, []byte(want)) {
		t.Fatalf("have %s, want %s", m, want)
	}
}

// TestOrderWithManySubscribers: batching keeps the order of a connection's frames. An
// answer comes after the envelopes that were published before it, and the answer to
// subscribe comes between the envelopes before and after its snapshot. Every envelope
// is delivered before the connection is closed.
func TestOrderWithManySubscribers(t *testing.T) {
	log, all := manySubscribers(t, 40)
	c, late := all[0], all[1]
	sendText(t, late, `{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-toy:/a"}}`)
	sendText(t, late, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)
	expect(t, late, `"id":1`)
	for i := range 300 {
		for k := range 3 {
			sendText(t, c, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-toy:/a","clientSeq":%d,"action":{"type":"ahp-toy/said","text":"%d.%d"}}}`, 3*i+k, i, k)
		}
		sendText(t, c, `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"channel":"ahp-root://"}}`, i)
		for k := range 3 {
			expect(t, c, fmt.Sprintf(`"text":"%d.%d"`, i, k))
		}
		expect(t, c, fmt.Sprintf(`"id":%d`, i))
	}
	publish := func(text string) {
		_ = log.Update(func(tx *channels.Tx) error { return tx.Append("ahp-toy:/a", said{Text: text}) })
	}
	publish("before the subscription")
	sendText(t, late, `{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"channel":"ahp-toy:/a"}}`)
	expect(t, late, `"id":2`)
	publish("for all")
	expect(t, late, "for all")
	for _, l := range all[2:] {
		for i := range 900 {
			expect(t, l, fmt.Sprintf(`"text":"%d.%d"`, i/3, i%3))
		}
		expect(t, l, "before")
		expect(t, l, "for all")
	}
}
