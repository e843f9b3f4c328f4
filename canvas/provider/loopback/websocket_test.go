package loopback_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// notHosts are types of ws/1 messages that are grants or echoes of the page's own.
var notHosts = regexp.MustCompile(`"type":"(grant|open|send)"`)

// receives waits for the host's next ws/1 message other than a grant.
func (p *page) receives(t *testing.T, want string) {
	t.Helper()
	for {
		select {
		case got := <-p.ws:
			if notHosts.MatchString(got) {
				continue
			}
			if got != want {
				t.Fatalf("the View got %s, want %s", got, want)
			}
			return
		case <-t.Context().Done():
			t.Fatalf("the View did not get %s", want)
		}
	}
}

// TestWebSocket: a View's WebSocket reaches the app with the app's own Host and Origin and
// the cookies of the jar, echoes, and ends when the app ends.
func TestWebSocket(t *testing.T) {
	var origin string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "7", HttpOnly: true})
			return
		}
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil) // checks that Origin is Host
		if err != nil {
			return
		}
		defer c.Close()
		said := fmt.Sprint(r.Header.Get("Origin") == origin, " ", r.Header.Get("Cookie"))
		_ = c.WriteMessage(websocket.TextMessage, []byte(said))
		for {
			kind, text, err := c.ReadMessage()
			if err != nil || string(text) == "end" {
				return
			}
			_ = c.WriteMessage(kind, text)
		}
	}))
	defer srv.Close()
	origin = srv.URL
	h := open(t, newProvider(t, srv.URL, loopback.Options{}))
	if _, _, err := h.page.get(t, "/login"); err != nil {
		t.Fatal(err)
	}
	h.page.say <- `{"x-ahp":"ws/1","type":"open","id":1,"path":"/ws"}`
	h.page.receives(t, `{"x-ahp":"ws/1","type":"opened","id":1}`)
	h.page.receives(t, fmt.Sprintf(`{"x-ahp":"ws/1","type":"message","id":1,"seq":0,"data":%q}`, base64.StdEncoding.EncodeToString([]byte("true sid=7"))))
	h.page.say <- `{"x-ahp":"ws/1","type":"send","id":1,"seq":0,"binary":true,"data":"AAEC"}`
	h.page.receives(t, `{"x-ahp":"ws/1","type":"message","id":1,"seq":1,"binary":true,"data":"AAEC"}`)
	h.page.say <- `{"x-ahp":"ws/1","type":"send","id":1,"seq":1,"data":"ZW5k"}`
	h.page.receives(t, `{"x-ahp":"ws/1","type":"closed","id":1,"code":1006,"error":"broken","message":"the connection to the app was lost"}`)
}
