package host_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// TestEditorsConnect: VS Code's desktop windows open a WebSocket with their origin, and its
// server opens one at the root. Both need a token.
func TestEditorsConnect(t *testing.T) {
	h, _ := serve(t, host.Options{ViewToken: viewToken})
	root := strings.Replace(h.Endpoints().Page, "http", "ws", 1)
	for _, tc := range []struct {
		url, origin, token string
		want               int // status of the refusal; 0 is none
	}{
		{root + "ahp", host.EditorOrigin, viewToken, 0},
		{root, "", viewToken, 0},
		{root, host.EditorOrigin, viewToken, 0},
		{root + "ahp", host.EditorOrigin, "", 401},
		{root, "", "", 401},
		{root + "ahp", "https://evil.example", viewToken, 403},
		{root, "null", viewToken, 403},
	} {
		header := http.Header{}
		if tc.origin != "" {
			header.Set("Origin", tc.origin)
		}
		conn, err := ws.Dial(t.Context(), tc.url, ws.DialOptions{Token: tc.token, Header: header})
		status := 0
		if e, ok := err.(*ws.HandshakeError); ok {
			status = e.Status
		} else if err != nil {
			t.Fatal(err)
		}
		if status != tc.want {
			t.Errorf("%s from %q with the token %q: status %d, want %d", tc.url, tc.origin, tc.token, status, tc.want)
		}
		if conn != nil {
			conn.Close(ws.CodeNormal, "")
			conn.Wait()
		}
	}
}
