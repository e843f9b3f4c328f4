package gateway_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/gorilla/websocket"
)

// TestSocketAtRoot: a WebSocket at the root of an app's origin is the app's, with its query
// and subprotocol. Vite's hot reload has one; at the root of the host's name is AHP.
func TestSocketAtRoot(t *testing.T) {
	pages := app()
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !websocket.IsWebSocketUpgrade(r) {
			pages.ServeHTTP(w, r)
			return
		}
		c, err := (&websocket.Upgrader{Subprotocols: []string{"vite-hmr"}}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		_ = c.WriteMessage(websocket.TextMessage, []byte(r.URL.String()))
	}))
	at, cookie := s.enter(s.open("app"))
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	dialer := websocket.Dialer{NetDialContext: s.dial, Subprotocols: []string{"vite-hmr"}}
	dial := func(cookie, origin string) (*websocket.Conn, *http.Response, error) {
		return dialer.DialContext(t.Context(), "ws://"+u.Host+"/?token=a-b_c", http.Header{"Cookie": {cookie}, "Origin": {origin}})
	}
	own := "http://" + u.Host
	conn, answer, err := dial(cookie, own)
	if err != nil {
		if answer != nil {
			t.Fatal(err, answer.Status)
		}
		t.Fatal(err)
	}
	defer conn.Close()
	if _, got, err := conn.ReadMessage(); err != nil || string(got) != "/?token=a-b_c" || conn.Subprotocol() != "vite-hmr" {
		t.Errorf("the app got %q (%v), the page the subprotocol %q", got, err, conn.Subprotocol())
	}
	for want, asked := range map[int][2]string{401: {"", own}, 403: {cookie, "https://evil.example"}} {
		if _, refused, err := dial(asked[0], asked[1]); err == nil || refused.StatusCode != want {
			t.Errorf("as %q from %s: %v, want %d", asked[0], asked[1], err, want)
		}
	}
}
