package serve

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// TestA2UIFlags: which remote agents a host starts with.
func TestA2UIFlags(t *testing.T) {
	dir := t.TempDir()
	token, empty := filepath.Join(dir, "token"), filepath.Join(dir, "empty")
	for file, content := range map[string]string{token: "secret-token\n", empty: "\n"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := func(s ...string) []string { return s }
	for _, tt := range []struct {
		agents, tokens []string
		want           string // of the error
	}{
		{list("finder=http://127.0.0.1:10002", "other=wss://agent.example/ws"), list("finder=" + token), ""},
		{nil, nil, ""},
		{list("finder=http://192.0.2.1"), nil, "--a2ui-agent finder: plain http and ws reach agents on this machine alone"},
		{list("finder=https://me:secret-password@agent.example"), nil, "without user name"},
		{list("finder"), nil, "want a name of up to 32"},
		{list("Finder=https://agent.example"), nil, "want a name of up to 32"},
		{list("a=https://agent.example", "a=https://agent.example"), nil, `there is an agent "a" already`},
		{list("a=https://agent.example"), list("b=" + token), "there is no --a2ui-agent b"},
		{list("a=https://agent.example"), list("a=" + empty), "want a file with one token"},
		{list("a=https://agent.example"), list("a=" + filepath.Join(dir, "none")), "no such file"},
		{list("a=https://agent.example"), list("a="+token, "a="+token), "want the name of one agent and a file"},
	} {
		err := (&a2uiOptions{agents: tt.agents, tokens: tt.tokens}).check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q %q: %v, want %q", tt.agents, tt.tokens, err, tt.want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret-token") || strings.Contains(err.Error(), "secret-password")) {
			t.Errorf("the error has a secret: %v", err)
		}
	}
}

// TestA2UICards: a host does not wait for the cards of remote agents. It notes an agent that
// cannot be reached, tries again until it can read the card, and stops when it ends.
func TestA2UICards(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	card := `{"url":"http://%s/a2a","capabilities":{"extensions":[{"uri":"https://a2ui.org/a2a-extension/a2ui/v0.9"}]}}`
	late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, card, r.Host)
	}))
	defer late.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"url":"http://%s/a2a"}`, r.Host) }))
	defer plain.Close()
	hanging := make(chan struct{})
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case hanging <- struct{}{}:
		case <-r.Context().Done():
		}
		<-r.Context().Done()
	}))
	defer hang.Close()
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	a, err := startA2UI(h, a2uiOptions{agents: []string{"late=" + late.URL, "plain=" + plain.URL, "hang=" + hang.URL}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	notes := make(chan string, 16)
	a.follow(func(s string) { notes <- s })
	<-hanging // it is asked, and follow has returned
	for range 2 {
		switch note := <-notes; {
		case strings.HasPrefix(note, `A2UI agent "late" is not reachable yet: `):
		case note == `A2UI agent "plain" does not declare A2UI v0.9 in its card; it might not draw anything`:
		default:
			t.Errorf("note %q", note)
		}
	}
	up.Store(true)
	if note := <-notes; note != `A2UI agent "late" is reached` {
		t.Errorf("note %q", note)
	}
	a.close() // also while the third card is read
	if len(notes) != 0 {
		t.Errorf("note %q", <-notes)
	}
}
