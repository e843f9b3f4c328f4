package mcpapp_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// internet stands in a server's program for the sites that it fetches from.
const internet = `globalThis.fetch = async (url) => String(url).includes("wikipedia.org/wiki/")
	? new Response('<p><a href="/wiki/Alpha">A</a> <a href="/wiki/Beta">B</a></p>', { headers: { "content-type": "text/html" } })
	: new Response(new Uint8Array(10 << 20), { headers: { "content-type": "video/mp4" } });`

// TestPublishedWithSites: published servers whose programs fetch from a site work in full
// if the site answers: a graph with its tools, and a resource of 13 MB.
func TestPublishedWithSites(t *testing.T) {
	dir := installed(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	stub := filepath.Join(t.TempDir(), "internet.mjs")
	if err := os.WriteFile(stub, []byte(internet), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func(t *testing.T, name, tool, input string) (*env, *viewer) {
		e := start(t)
		e.add(mcpapp.Server{Name: name, Command: []string{node, "--import", stub, filepath.Join(dir, "node_modules/@modelcontextprotocol/server-"+name, "dist/index.js"), "--stdio"}})
		e.mustOpen(tool, input)
		v := e.view(webtest.Start(t))
		v.wait(`h.documentElement.dataset.stage === "ready"`)
		return e, v
	}
	t.Run("wiki-explorer", func(t *testing.T) {
		inBrowser(t, func(t *testing.T) {
			e, v := begin(t, "wiki-explorer", "get-first-degree-links", "")
			nodes := func() string {
				got, err := e.invoke("get-first-degree-links", "app_call_tool", `{"name":"get-visible-nodes"}`)
				if err != nil {
					return err.Error()
				}
				return got
			}
			e.await("the graph", func() bool { return strings.Contains(nodes(), "Alpha") && strings.Contains(nodes(), "Beta") })
			tools, err := e.invoke("get-first-degree-links", "app_list_tools", "")
			if err != nil || !strings.Contains(tools, "expand-node") {
				t.Errorf("the page's tools: %s, %v", tools, err)
			}
			v.save("wiki-explorer-online")
		})
	})
	t.Run("video-resource", func(t *testing.T) {
		inBrowser(t, func(t *testing.T) {
			_, v := begin(t, "video-resource", "play_video", `{"videoId":"bunny-10mb"}`)
			v.wait(`d.querySelector("#video-info").textContent === "Loaded via MCP resource (10MB)"`)
			v.eval(`(w.bytes = "", w.fetch(d.querySelector("video").src).then((r) => r.blob()).then((b) => { w.bytes = b.size; }), 0)`)
			v.wait(`w.bytes === 10485760`)
			v.save("video-resource-online")
		})
	})
}

// cesium stands for the library of a map: everything in it exists, and does nothing.
const cesium = `globalThis.Cesium = (() => { const all = new Proxy(function () {}, {
	get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : name === "then" ? undefined : name === Symbol.iterator ? function* () {} : all),
	set: () => true, apply: () => all, construct: () => all }); return all; })();`

// TestPublishedMap: a page that needs a site works where the operator allows that site, and
// reaches no other.
func TestPublishedMap(t *testing.T) {
	dir := installed(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	inBrowser(t, func(t *testing.T) {
		site, other := newElsewhere(t), newElsewhere(t)
		notes := site.Config.Handler
		site.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch filepath.Ext(r.URL.Path) {
			case ".js":
				w.Header().Set("Content-Type", "text/javascript")
			case ".css":
				w.Header().Set("Content-Type", "text/css")
			}
			notes.ServeHTTP(w, r)
			if filepath.Ext(r.URL.Path) == ".js" {
				fmt.Fprint(w, cesium)
			}
		})
		port := func(e *elsewhere) string {
			u, err := url.Parse(e.URL)
			if err != nil {
				t.Fatal(err)
			}
			return u.Port()
		}
		b := webtest.Start(t, "ignore-certificate-errors", "host-resolver-rules=MAP cesium.com:443 127.0.0.1:"+port(site)+", MAP *.cesium.com:443 127.0.0.1:"+port(other)+", MAP *.openstreetmap.org:443 127.0.0.1:"+port(other))
		e := start(t, func(o *mcpapp.Options, ho *host.Options) {
			o.Allowed = func(string, string) []string { return []string{"https://cesium.com"} }
			ho.AllowOrigins = map[string][]string{"map": {"https://cesium.com"}}
		})
		e.add(mcpapp.Server{Name: "map", Command: []string{node, filepath.Join(dir, "node_modules/@modelcontextprotocol/server-map/dist/index.js"), "--stdio"}})
		e.mustOpen("show-map", "")
		v := e.view(b)
		v.wait(`h.documentElement.dataset.stage === "ready"`)
		v.wait(`h.body.innerText.includes("It asked for *.openstreetmap.org, *.cesium.com.")`)
		v.eval(`(w.tried = 0, ["https://tile.openstreetmap.org/1", "https://api.cesium.com/1"].forEach((u) => w.fetch(u).catch(() => {}).finally(() => { w.tried++; })), 0)`)
		v.wait(`w.tried === 2`)
		v.save("map-allowed")
		if got := site.reached(); !slices.ContainsFunc(got, func(path string) bool { return strings.HasSuffix(path, "/Cesium.js") }) {
			t.Errorf("the allowed site was asked for %q", got)
		}
		if got := other.reached(); len(got) > 0 {
			t.Errorf("another site was asked for %q", got)
		}
	})
}
