package programtest

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
)

// asked is a request of the browser, from its network log.
type asked struct{ url, initiator string }

// onlyTheHost checks what the browser requested from the network: the host's page and its
// socket, and on content origins only the host's own files, because everything of a canvas
// comes over the socket.
func (e *evidence) onlyTheHost(t *testing.T) {
	data, err := os.ReadFile(e.netlog)
	if err != nil {
		t.Error(err)
		return
	}
	count := map[string]int{}
	for _, r := range requests(data) {
		u, err := url.Parse(r.url)
		if err != nil {
			t.Errorf("a request for %q", r.url)
			continue
		}
		kind := e.classify(u)
		if kind == "" && r.initiator == "not an origin" {
			kind = "the browser's own" // of its makers: no page caused it
		}
		count[kind]++
		if kind == "" {
			t.Errorf("a request to another server: %s by %s", r.url, r.initiator)
		}
	}
	t.Logf("what the browser requested from the network: %v", count)
	if count["page"] == 0 || count["socket"] == 0 || count["content"] == 0 {
		t.Error("the browser's network log lacks expected requests")
	}
}

// requests reads a browser's network log, which has one event per line. Its end can be
// missing, because the browser was killed.
func requests(netlog []byte) (all []asked) {
	for line := range bytes.Lines(netlog) {
		var event struct {
			Params struct{ Initiator, URL string }
		}
		line = bytes.TrimRight(line, ",\n")
		if json.Unmarshal(line, &event) == nil && event.Params.Initiator != "" && event.Params.URL != "" {
			all = append(all, asked{event.Params.URL, event.Params.Initiator})
		}
	}
	return all
}

// classify returns the kind of a request, or "" if it is not allowed.
func (e *evidence) classify(u *url.URL) string {
	page, err := url.Parse(e.server.Link)
	if err != nil {
		return ""
	}
	content := "localhost:" + page.Port()
	if page.Hostname() != "localhost" {
		content = "canvas.test:" + page.Port()
	}
	switch {
	case u.Host == page.Host && strings.HasPrefix(u.Scheme, "ws") && strings.HasPrefix(u.Path, "/ahp"):
		return "socket"
	case u.Host == page.Host && strings.HasPrefix(u.Scheme, "http"):
		return "page"
	case strings.HasPrefix(u.Host, "c-") && strings.HasSuffix(u.Host, "."+content) && strings.HasPrefix(u.Path, "/.ahp/"):
		return "content"
	}
	return ""
}
