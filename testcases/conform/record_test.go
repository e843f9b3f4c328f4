package conform_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// listen puts a recorder between the test and a host.
func listen(t *testing.T, h *ourHost, r *conform.Recorder) (url string, stop func()) {
	t.Helper()
	proxy := &conform.Proxy{To: h.url, Watcher: r}
	server := httptest.NewServer(proxy)
	return "ws" + strings.TrimPrefix(server.URL, "http") + "/ahp", func() {
		proxy.Wait() // the clients have closed: their ends belong to the recording
		r.Stop()
		proxy.Close()
		server.Close()
	}
}

// Every case that needs no agent is played through a recorder, and its
// recording is played against the host again. It must pass and contain no
// token.
func TestRecordAndPlay(t *testing.T) {
	h := startHost(t, true)
	recorded := map[string]bool{}
	for _, c := range recordable(t) {
		r := &conform.Recorder{Title: "recorded: " + c.Meta["title"]}
		url, stop := listen(t, h, r)
		first, err := conform.Run(t.Context(), conform.Options{URL: url, Token: agentToken, Cases: []*testcases.Transcript{c}, Ours: true})
		stop()
		if err != nil || first.Count().Passed != 1 {
			t.Errorf("%s: %v, %+v", c.Name, err, first)
			continue
		}
		again := parse(t, c.Name, r)
		second, err := conform.Run(t.Context(), conform.Options{URL: h.url, Token: agentToken, Cases: []*testcases.Transcript{again}, Ours: true})
		if err != nil || second.Count().Passed != 1 {
			t.Errorf("%s: the recording: %v, %+v", c.Name, err, second.Results)
		}
		recorded[c.Name] = true
	}
	t.Logf("%d cases recorded and played", len(recorded))
	if !recorded["reconnect/replay"] || !recorded["frames/malformed"] {
		t.Error("the cases that show the most were not recorded")
	}
}

// recordable returns the cases whose steps all use the WebSocket. Cases about
// limits are excluded: no file should hold their frames.
func recordable(t *testing.T) []*testcases.Transcript {
	t.Helper()
	return slices.DeleteFunc(allCases(t), func(c *testcases.Transcript) bool {
		return len(c.Needs()) > 0 || strings.HasPrefix(c.Name, "limits/")
	})
}

func parse(t *testing.T, name string, r *conform.Recorder) *testcases.Transcript {
	t.Helper()
	var b strings.Builder
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), agentToken) {
		t.Errorf("%s: the recording holds the token", name)
	}
	again, err := testcases.ParseTranscript(name, b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return again
}
