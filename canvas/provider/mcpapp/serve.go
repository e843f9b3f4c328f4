package mcpapp

import (
	"encoding/json"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// serve answers the requests of the wrapper page and of the View in it. The two share an
// origin, so whatever one may do the other may do too: the limits are here.
func (i *instance) serve(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /":
		serveFile(w, "index.html", "text/html; charset=utf-8")
	case "GET /-/host.js":
		serveFile(w, "host.js", "text/javascript; charset=utf-8")
	case "GET /-/view":
		i.serveView(w)
	case "GET /-/opening":
		i.serveOpening(w)
	case "POST /-/rpc":
		i.serveRPC(w, r)
	case "POST /-/say":
		i.serveSay(w, r)
	default:
		http.Error(w, "This canvas has no such page.", http.StatusNotFound)
	}
}

// serveView answers with the View's document and its policy.
func (i *instance) serveView(w http.ResponseWriter) {
	i.mu.Lock()
	page, policy := i.page, i.grant.policy()
	i.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	_, _ = io.WriteString(w, page.html)
}

// opening is what the wrapper needs to begin.
type opening struct {
	Generation   int64          `json:"generation"`
	Tool         *sdk.Tool      `json:"tool"`
	Arguments    ahp.Value      `json:"arguments"`
	Result       ahp.Value      `json:"result,omitempty"`
	Canceled     string         `json:"cancelled,omitempty"`
	Server       implementation `json:"server"`
	Capabilities capabilities   `json:"capabilities"`
	CSP          granted        `json:"csp"`
	Policy       string         `json:"policy"` // of the View, for single-document mode
	Denied       []string       `json:"denied,omitempty"`
	Name         string         `json:"name"`
	Version      string         `json:"version"`
}

type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type capabilities struct {
	Resources bool `json:"resources"`
}

// serveOpening answers with the tool, its arguments and its result.
func (i *instance) serveOpening(w http.ResponseWriter) {
	i.mu.Lock()
	o := opening{
		Generation: i.kept.Generation, Tool: i.tool, Arguments: i.kept.Arguments, Result: i.kept.Result, Canceled: i.kept.Canceled,
		CSP: i.grant, Policy: i.grant.policy(), Denied: i.grant.denied, Name: i.server.server.Name, Version: i.server.runner.opts.Version,
	}
	c := i.conn
	i.mu.Unlock()
	if init := c.session.InitializeResult(); init != nil && init.ServerInfo != nil {
		o.Server = implementation{init.ServerInfo.Name, init.ServerInfo.Version}
	}
	o.Capabilities.Resources = c.hasResources()
	raw, err := json.Marshal(o)
	if err != nil {
		http.Error(w, "The result cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}
