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

// toys is a log with some channels.
func toys(t *testing.T, uris ...string) *channels.Log {
	t.Helper()
	log := channels.New(channels.Options{})
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

// crowdOf serves a host with one channel to so many connections, all subscribed.
func crowdOf(t *testing.T, n int) (log *channels.Log, all []*ws.Conn) {
	t.Helper()
	log = toys(t, "ahp-toy:/a")
	s := server.New(server.Options{Log: log})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := ws.Upgrade(w, r, ws.Options{}); err == nil {
			s.Serve(c, "")
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
		tell(t, c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.6.0"],"clientId":"c%d","initialSubscriptions":["ahp-toy:/a"]}}`, i)
		hear(t, c, `"id":0`)
		all = append(all, c)
	}
	return log, all
}

func tell(t *testing.T, c *ws.Conn, format string, args ...any) {
	t.Helper()
	if err := c.WriteBatch([][]byte{fmt.Appendf(nil, format, args...)}); err != nil {
		t.Fatal(err)
	}
}

// hear wants the next message to hold a text.
func hear(t *testing.T, c *ws.Conn, want string) {
	t.Helper()
	m, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(m, []byte(want)) {
		t.Fatalf("have %s, want %s", m, want)
	}
}

// Where many listen too, an answer comes behind what its connection was told
// before, a subscription's answer stands between what it leaves out and what it
// brings, and who is told everything before it is cut off.
func TestOrderInACrowd(t *testing.T) {
	log, all := crowdOf(t, 40)
	c, late := all[0], all[1]
	tell(t, late, `{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-toy:/a"}}`)
	tell(t, late, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)
	hear(t, late, `"id":1`)
	for i := range 300 {
		for k := range 3 {
			tell(t, c, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-toy:/a","clientSeq":%d,"action":{"type":"ahp-toy/said","text":"%d.%d"}}}`, 3*i+k, i, k)
		}
		tell(t, c, `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"channel":"ahp-root://"}}`, i)
		for k := range 3 {
			hear(t, c, fmt.Sprintf(`"text":"%d.%d"`, i, k))
		}
		hear(t, c, fmt.Sprintf(`"id":%d`, i))
	}
	publish := func(text string) {
		_ = log.Update(func(tx *channels.Tx) error { return tx.Append("ahp-toy:/a", said{Text: text}) })
	}
	publish("not for who comes later")
	tell(t, late, `{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"channel":"ahp-toy:/a"}}`)
	hear(t, late, `"id":2`)
	publish("for all")
	hear(t, late, "for all")
	for _, l := range all[2:] {
		for i := range 900 {
			hear(t, l, fmt.Sprintf(`"text":"%d.%d"`, i/3, i%3))
		}
		hear(t, l, "not for")
		hear(t, l, "for all")
	}
}
