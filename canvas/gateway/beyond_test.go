package gateway_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// TestBeyondThisMachine: names below localhost are for clients of this machine. Others have
// addresses if the host has a pattern of content origins, and none otherwise; so has a
// client that may only read.
func TestBeyondThisMachine(t *testing.T) {
	for _, tc := range []struct{ name, pattern, base, token, want string }{
		{"this machine", "", "localhost", "view-token", "http://g-*.localhost:PORT/"},
		{"another machine", "", "canvas.example", "view-token", ""},
		{"another machine, with content origins", "https://*.canvases.example", "canvas.example", "view-token", "https://g-*.canvases.example/"},
		{"this machine, with content origins", "https://*.canvases.example", "localhost", "view-token", "https://g-*.canvases.example/"},
		{"a reader", "", "localhost", "read-token", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t, app(), func(o *host.Options) {
				o.Origins, o.ContentOrigin = []string{"http://canvas.example"}, tc.pattern
				o.Tokens = append(o.Tokens, ws.Token{Secret: "read-token", Role: host.RoleRead})
			})
			opened, err := s.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "board", InstanceID: "b"})
			if err != nil {
				t.Fatal(err)
			}
			_, port, _ := strings.Cut(s.addr, ":")
			at := tc.base
			if at == "localhost" {
				at += ":" + port
			}
			e := newEditorAt(t, "ws://"+at+"/ahp", ws.DialOptions{Token: tc.token, NetDial: s.dial}, `{"clientId":"other","protocolVersions":["1.0.0"]}`)
			got := e.subscribe(opened.Channel)
			if got == "" || tc.want == "" {
				if got != tc.want {
					t.Errorf("the address is %q, want %q", got, tc.want)
				}
				return
			}
			u, err := url.Parse(got)
			if err != nil || u.Query().Get("~t") == "" {
				t.Fatalf("the address is %q, %v", got, err)
			}
			label, rest, _ := strings.Cut(u.Scheme+"://"+u.Host+"/", ".")
			want := strings.Replace(tc.want, "PORT", port, 1)
			if !strings.HasPrefix(want, label[:len(label)-32]+"*.") || !strings.HasSuffix(want, "*."+rest) {
				t.Errorf("the address is %q, want %q", got, want)
			}
		})
	}
}
