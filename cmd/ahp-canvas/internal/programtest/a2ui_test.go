package programtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

const a2uiSurface = `{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"}}`

// streaming is an A2A agent whose answer does not end: it draws until the host leaves.
func streaming(t *testing.T, token string) *httptest.Server {
	t.Helper()
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/") {
			fmt.Fprintf(w, `{"url":"http://%s/a2a","capabilities":{"streaming":true}}`, r.Host)
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		var req struct{ ID json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&req)
		w.Header().Set("Content-Type", "text/event-stream")
		message := `{"version":"v0.9","deleteSurface":{"surfaceId":"s"}}`
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			part := `{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":` + message + `}`
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"kind\":\"artifact-update\",\"taskId\":\"t\",\"contextId\":\"c\",\"artifact\":{\"artifactId\":\"a\",\"parts\":[%s]}}}\n\n", req.ID, part)
			w.(http.Flusher).Flush()
			message = a2uiSurface
			if n > 0 {
				message = fmt.Sprintf(`{"version":"v0.9","updateDataModel":{"surfaceId":"s","path":"/n","value":%d}}`, n)
			}
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			case <-stop:
				return
			}
		}
	}))
	t.Cleanup(func() { close(stop); srv.CloseClientConnections(); srv.Close() })
	return srv
}

// dialMCP connects an agent to a host.
func dialMCP(t *testing.T, s *server) *mcp.Client {
	t.Helper()
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: s.MCP, Token: s.AgentToken})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestA2UIKilled: a host that is killed while agents draw, and while a remote agent's answer
// streams, has everything that apply has answered.
func TestA2UIKilled(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("bearer-of-finder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--a2ui-agent", "finder=" + streaming(t, "bearer-of-finder").URL, "--a2ui-agent-token", "finder=" + secret}
	var mu sync.Mutex
	acknowledged := map[int]int{} // the last answered value of each writer
	const writers = 4
	lives := runs(3, 50)
	for life := range lives {
		s := m.serve(args...)
		agent := dialMCP(t, s)
		call := func(tool, input string) (ahp.Value, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return agent.Call(ctx, tool, ahp.Value(input))
		}
		checkA2UI(t, life, acknowledged, call)
		var wg sync.WaitGroup
		wg.Go(func() { // it draws until the kill
			if got, err := call(mcp.ToolInvoke, `{"instanceId":"finder","actionName":"say","input":{"text":"go"}}`); err == nil {
				t.Errorf("say answered %s", got)
			}
		})
		for w := range writers {
			wg.Go(func() {
				for n := acknowledged[w] + 1; ; n++ {
					_, err := call(mcp.ToolInvoke, fmt.Sprintf(`{"instanceId":"own","actionName":"apply","input":{"messages":{"version":"v0.9","updateDataModel":{"surfaceId":"s","path":"/w%d","value":%d}}}}`, w, n))
					if err != nil {
						return // it was killed
					}
					mu.Lock()
					acknowledged[w] = n
					mu.Unlock()
				}
			})
		}
		after(200*time.Millisecond + rand.N(400*time.Millisecond))
		_ = s.cmd.Process.Kill()
		<-s.done
		wg.Wait()
	}
	total := 0
	for _, n := range acknowledged {
		total += n
	}
	t.Logf("%d kills, %d answers", lives, total)
	if total < 10*lives {
		t.Errorf("only %d answers in %d lives", total, lives)
	}
}

// checkA2UI checks the surfaces after a restart, or opens the canvases.
func checkA2UI(t *testing.T, life int, acknowledged map[int]int, call func(tool, input string) (ahp.Value, error)) {
	t.Helper()
	if life == 0 {
		for _, input := range []string{`{"canvasId":"a2ui","instanceId":"own","input":{"messages":` + a2uiSurface + `}}`, `{"canvasId":"a2ui-finder","instanceId":"finder"}`} {
			if _, err := call(mcp.ToolOpen, input); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	got, err := call(mcp.ToolInvoke, `{"instanceId":"own","actionName":"get_surfaces"}`)
	if err != nil {
		t.Fatal(err)
	}
	for w, n := range acknowledged {
		found := regexp.MustCompile(fmt.Sprintf(`"w%d":(\d+)`, w)).FindStringSubmatch(string(got))
		have := 0
		if found != nil {
			_, _ = fmt.Sscan(found[1], &have)
		}
		if have < n {
			t.Errorf("life %d: writer %d has %d, %d was answered", life, w, have, n)
		}
	}
}

// TestA2UISecrets: an agent's token and what people and agents write are in no log, and the
// token and the address are in no state.
func TestA2UISecrets(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("bearer-of-finder"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := streaming(t, "bearer-of-finder")
	s := m.serve("--log-level", "debug", "--a2ui-agent", "finder="+srv.URL, "--a2ui-agent-token", "finder="+secret,
		"--a2ui-agent", "away=http://127.0.0.1:1")
	untilTrue(t, "a note about the agent that is away", func() bool { return strings.Contains(s.errs.String(), `"away" is not reachable`) })
	list := m.do(0, "ls")
	for _, id := range []string{"a2ui", "a2ui-finder", "a2ui-away"} {
		if !strings.Contains(list, id) {
			t.Errorf("ls lacks %s:\n%s", id, list)
		}
	}
	m.do(0, "open", "a2ui", "--instance", "own", "--input", `{"messages":[`+a2uiSurface+`]}`)
	m.do(0, "invoke", "own", "apply", "--input", `{"messages":{"version":"v0.9","updateDataModel":{"surfaceId":"s","path":"/x","value":"entered-by-a-person"}}}`)
	m.do(1, "invoke", "own", "apply", "--input", `{"messages":{"version":"v0.8","x":"entered-by-a-person"}}`)
	m.do(0, "open", "a2ui-finder", "--instance", "finder")
	m.do(0, "invoke", "finder", "say", "--input", `{"text":"entered-by-a-person"}`)
	m.do(0, "open", "a2ui-away", "--instance", "away")
	m.do(1, "invoke", "away", "say", "--input", `{"text":"entered-by-a-person"}`)
	if !strings.Contains(m.err, "a2ui_agent_unavailable") {
		t.Errorf("say to an agent that is away: %s", m.err)
	}
	states := m.do(0, "ls", "--json") + m.lastOut
	if got := s.stop(syscall.SIGTERM); got != 0 {
		t.Errorf("exit status %d", got)
	}
	for _, word := range []string{"bearer-of-finder", srv.URL, strings.TrimPrefix(srv.URL, "http://"), "entered-by-a-person"} {
		if strings.Contains(s.errs.String(), word) {
			t.Errorf("the log holds %q:\n%s", word, s.errs)
		}
		if strings.Contains(states, word) {
			t.Errorf("a state holds %q", word)
		}
	}
	err := filepath.WalkDir(m.state, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		raw, err := io.ReadAll(f)
		for _, word := range []string{"bearer-of-finder", srv.URL} {
			if strings.Contains(string(raw), word) {
				t.Errorf("%s holds %q", d.Name(), word)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
