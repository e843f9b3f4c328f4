package remote_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/remote"
)

// socketAgent starts an agent at a WebSocket. For each frame it sends the answers, in
// which "END" closes the connection.
func socketAgent(t *testing.T, limits remote.Limits, answers ...string) (*remote.Agent, chan string) {
	t.Helper()
	frames := make(chan string, 16)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret-token" {
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		c, err := ws.Upgrade(w, r, ws.Options{ReadLimit: 1 << 20})
		if err != nil {
			return
		}
		defer func() { c.Close(ws.CodeNormal, ""); c.Wait() }()
		for {
			b, err := c.ReadMessage()
			if err != nil {
				return
			}
			frames <- string(b)
			for _, a := range answers {
				if a == "END" || c.WriteBatch([][]byte{[]byte(a)}) != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(srv.Close)
	a, err := remote.New(remote.Options{Name: "finder", URL: strings.Replace(srv.URL, "http", "ws", 1), Token: "secret-token", Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a, frames
}

const created = `{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"c"}}`

// TestSocket: a turn is one frame with what an A2A message would have, and every frame of
// the agent is one JSON message, bare or wrapped.
func TestSocket(t *testing.T) {
	a, frames := socketAgent(t, remote.Limits{}, created, `[`+created+`]`, `{"parts":[{"text":"Please fill this in."}],"state":"input-required"}`)
	for range 2 { // the second turn uses the same connection
		got := turn(t, a, a2ui.Turn{ContextID: "c1", Text: "hello", Messages: []ahp.Value{ahp.Value(action)}, Model: ahp.Value(model)})
		want := []string{"working", "createSurface", "createSurface", "input-required Please fill this in."}
		if diff := cmp.Diff(want, outline(got)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got[0].ContextID != "c1" {
			t.Errorf("context %q", got[0].ContextID)
		}
		frame := `{"contextId":"c1","parts":[{"text":"hello"},{"mediaType":"application/json+a2ui","metadata":{"mimeType":"application/json+a2ui"},"data":[` + action + `]}],
			"metadata":{"a2uiClientCapabilities":` + string(a2ui.Capabilities()) + `,"a2uiClientDataModel":` + model + `}}`
		if f := <-frames; !ahp.Equal(ahp.Value(f), ahp.Value(frame)) {
			t.Errorf("sent %s, want %s", f, frame)
		}
	}
}

// TestSocketEnds: how a turn ends if the agent names no state.
func TestSocketEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []string
		want    []string
		code    string
	}{
		"quiet":             {[]string{created}, []string{"working", "createSurface", "completed"}, ""},
		"closed":            {[]string{created, "END"}, []string{"working", "createSurface", "interrupted"}, ""},
		"closed at once":    {[]string{"END"}, nil, a2ui.CodeAgentUnavailable},
		"silent":            {nil, nil, a2ui.CodeAgentSilent},
		"a frame too large": {[]string{`"` + strings.Repeat("x", 9000) + `"`}, nil, a2ui.CodeAgentUnavailable},
		"no JSON":           {[]string{"<html>", `{"state":"completed"}`}, []string{"working", "completed"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			limits := remote.Limits{Event: 8192, Quiet: 100 * time.Millisecond}
			if name == "silent" {
				limits.Silence = 100 * time.Millisecond
			}
			a, _ := socketAgent(t, limits, tt.answers...)
			if tt.code != "" {
				fails(t, a, tt.code, "")
				return
			}
			if diff := cmp.Diff(tt.want, outline(turn(t, a, a2ui.Turn{Text: "x"}))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestSocketRefused: a wrong token is a status, and a closed agent opens nothing.
func TestSocketRefused(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusUnauthorized) }))
	defer srv.Close()
	a, err := remote.New(remote.Options{Name: "finder", URL: strings.Replace(srv.URL, "http", "ws", 1)})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, a, a2ui.CodeAgentUnavailable, "status 401")
	b, _ := socketAgent(t, remote.Limits{}, `{"state":"completed"}`)
	turn(t, b, a2ui.Turn{Text: "x"})
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	fails(t, b, a2ui.CodeAgentUnavailable, "the host is closing")
}
