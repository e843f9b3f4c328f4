package testcases_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ahp-canvas/ahp-canvas/"

type layer struct {
	pkg     string
	ours    string // below this module
	foreign string // third-party modules
	why     string
}

// layers is who may import whom: the picture in CONTRIBUTING.md as data. Imports run
// down only. A package that is not a row, an import that its row does not name, what
// a row names and its package does not import, and a row without a package all fail.
var layers = []layer{
	{"ahp", "ahp/scan", "github.com/go-json-experiment/json", "the vocabulary is pure data"},
	{"ahp/access", "ahp", "", "what the role of a token permits"},
	{"ahp/durable", "", "", "files that survive a power cut"},
	{"ahp/token", "ahp ahp/access ahp/durable", "", "tokens that are listed, revoked and expire"},
	{"ahp/trace", "", "", "spans, exported as OTLP"},
	{"ahp/heavy", "", "", "long work takes turns"},
	{"ahp/ws", "ahp/heavy", "github.com/gorilla/websocket golang.org/x/sys", "what a peer and a relay need of a WebSocket"},
	{"ahp/jws", "", "github.com/go-jose/go-jose/v4", "signed tokens, read strictly"},
	{"ahp/seal", "ahp/ws", "github.com/flynn/noise", "a relay between client and host reads nothing"},
	{"ahp/remote", "", "", "which address a request comes from"},
	{"ahp/proof", "", "", "that a host knows a token, before it is sent there"},
	{"ahp/mark", "", "golang.org/x/sys", "the inside of a JSON string, many bytes at a time"},
	{"ahp/scan", "ahp/mark", "github.com/segmentio/asm", "JSON text, read without building values"},
	{"ahp/budget", "", "", "how much memory clients may make a host hold"},
	{"ahp/peer", "ahp ahp/budget ahp/heavy ahp/scan ahp/ws", "github.com/segmentio/asm github.com/sourcegraph/jsonrpc2", "JSON-RPC stands in one place"},
	{"ahp/relay", "ahp ahp/remote ahp/ws ahp/trace", "github.com/cenkalti/backoff/v5 golang.org/x/time", "forwards, and understands nothing"},
	{"ahp/relay/relaytest", "ahp/relay ahp/ws", "", "a relay and a host for the length of a test"},
	{"ahp/relay/natsdir", "ahp ahp/relay", "github.com/nats-io/nats.go", "the only package that knows NATS"},
	{"ahp/relay/signed", "ahp ahp/jws ahp/relay", "github.com/go-jose/go-jose/v4", "tokens that need no common file"},
	{"ahp/ahptest", "", "", "the test kit"},
	{"channels", "ahp ahp/access ahp/budget ahp/heavy", "", "the log has no socket"},
	{"channels/groupcommit", "", "", "callers that share one commit"},
	{"channels/lockfile", "", "golang.org/x/sys", "a file that one process has"},
	{"channels/storetest", "channels", "", "what every store must pass"},
	{"channels/sqlitestore", "ahp/durable channels channels/lockfile channels/groupcommit", "modernc.org/sqlite", "the store in one file"},
	{"channels/server", "channels ahp/peer ahp/ws ahp/access ahp ahp/budget ahp/heavy", "", "the only place where peers meet the log"},
	{"session", "channels ahp ahp/access ahp/budget", "", "a channel kind"},
	{"session/chat", "ahp channels session", "", "the chat of a session, for later versions"},
	{"canvas/dialect", "ahp ahp/ws canvas channels channels/server session session/chat", "", "later versions of the protocol"},
	{"canvas", "session channels ahp ahp/access", "github.com/google/jsonschema-go", "the contract of canvases: no lock, no goroutine, no validator, no store"},
	{"canvas/attach", "canvas channels ahp ahp/access", "", "a View without a socket"},
	{"canvas/allow", "", "", "origins that the operator lets canvases load from"},
	{"canvas/jsonschema", "ahp ahp/budget", "github.com/santhosh-tekuri/jsonschema/v6", "declared schemas at a bounded cost"},
	{"canvas/check", "canvas canvas/jsonschema session ahp", "", "everything that a host is given, against its limits"},
	{"canvas/engine", "ahp/trace canvas canvas/allow canvas/check canvas/engine/contentjson canvas/jsonschema session channels channels/groupcommit ahp ahp/access ahp/budget ahp/heavy", "", "registry, flows, content and events"},
	{"canvas/engine/contentjson", "ahp ahp/mark ahp/budget", "github.com/segmentio/asm", "content as JSON, in one pass"},
	{"canvas/provider/board", "canvas canvas/provider/sample ahp", "", "a provider"},
	{"canvas/provider/sample", "canvas ahp", "", "what the bundled canvases share"},
	{"canvas/provider/sample/sampletest", "canvas canvas/host canvas/host/hosttest canvas/provider/sample canvas/web/webtest ahp", "github.com/google/go-cmp", "a browser for their tests"},
	{"canvas/provider/form", "canvas canvas/provider/sample ahp", "", "a provider"},
	{"canvas/provider/chart", "canvas canvas/provider/sample ahp", "", "a provider"},
	{"canvas/view", "canvas ahp", "", "view/1: pages that answer for a provider"},
	{"canvas/bridge", "canvas channels ahp ahp/scan", "github.com/segmentio/asm github.com/andybalholm/brotli github.com/klauspost/compress github.com/gorilla/websocket", "http/1 and ws/1: HTTP and WebSockets inside canvas/message"},
	{"canvas/provider/loopback", "ahp/trace canvas canvas/bridge ahp", "", "a provider"},
	{"canvas/provider/folder", "canvas canvas/check canvas/view ahp", "", "a provider"},
	{"canvas/provider/page", "canvas canvas/view ahp ahp/durable", "", "a provider"},
	{"canvas/process", "", "github.com/cenkalti/backoff/v5 golang.org/x/sys", "child programs with their children, logs and last words"},
	{"canvas/provider/extension", "ahp/trace canvas canvas/process canvas/provider/loopback ahp", "github.com/sourcegraph/jsonrpc2 github.com/cenkalti/backoff/v5 github.com/shirou/gopsutil/v4", "a provider: processes"},
	{"canvas/provider/mcpapp", "ahp/trace ahp canvas canvas/bridge canvas/outbound canvas/process canvas/view", "github.com/cenkalti/backoff/v5 github.com/modelcontextprotocol/go-sdk", "a provider: MCP servers whose tools have pages"},
	{"canvas/appview", "ahp canvas canvas/attach session", "golang.org/x/time", "Views of chats"},
	{"canvas/onefile", "ahp canvas", "github.com/evanw/esbuild golang.org/x/net", "a canvas's document as one text"},
	{"canvas/outbound", "", "", "HTTP to the open web, for addresses that others choose"},
	{"canvas/inhead", "", "golang.org/x/net", "a script of ours in somebody else's document"},
	{"canvas/provider/aap", "ahp canvas/inhead channels/groupcommit", "github.com/google/uuid", "a neighboring protocol, usable alone"},
	{"canvas/provider/aap/aapcanvas", "ahp canvas canvas/inhead canvas/provider/aap canvas/provider/sample canvas/view", "", "its canvases"},
	{"canvas/provider/aap/notify", "canvas/provider/aap", "", "programs that agents notice"},
	{"canvas/provider/aap/skill", "", "", "what agents are taught about it"},
	{"canvas/provider/aam", "ahp ahp/durable canvas/provider/aam/x402", "github.com/go-json-experiment/json golang.org/x/net", "a neighboring protocol, the agent's side, usable alone"},
	{"canvas/provider/aam/x402", "ahp", "github.com/decred/dcrd/dcrec/secp256k1/v4 golang.org/x/crypto", "payments: challenges, signatures, their check"},
	{"canvas/provider/aam/aamid", "ahp ahp/jws", "github.com/go-jose/go-jose/v4", "credentials of AAM ID, checked"},
	{"canvas/provider/aam/aamid/issuer", "ahp canvas/provider/aam/aamid", "github.com/go-jose/go-jose/v4", "issues such credentials"},
	{"canvas/provider/aam/site", "ahp canvas/jsonschema canvas/provider/aam canvas/provider/aam/aamid canvas/provider/aam/x402", "", "a site for agents, usable alone"},
	{"canvas/provider/a2ui", "ahp", "github.com/santhosh-tekuri/jsonschema/v6", "a neighboring protocol, usable alone"},
	{"canvas/provider/aam/aamcanvas", "ahp canvas canvas/provider/aam canvas/provider/aam/site canvas/provider/aam/x402 canvas/provider/sample canvas/view session", "", "its canvases"},
	{"canvas/provider/actionsbridge", "ahp ahp/ws canvas/jsonschema", "", "a neighboring protocol, usable alone"},
	{"canvas/provider/actionsbridge/bridgecanvas", "ahp canvas canvas/check canvas/inhead canvas/provider/actionsbridge canvas/provider/folder canvas/provider/sample canvas/view", "", "its canvases"},
	{"canvas/provider/a2ui/remote", "ahp ahp/ws canvas/provider/a2ui", "", "agents elsewhere, by A2A or a WebSocket"},
	{"canvas/provider/a2ui/a2uicanvas", "ahp canvas canvas/outbound canvas/provider/a2ui canvas/provider/sample canvas/view channels", "", "its canvases"},
	{"canvas/history", "ahp canvas channels", "", "what happened, for people"},
	{"canvas/canvastest", "canvas canvas/engine session channels ahp ahp/access", "", "what every provider must pass"},
	{"canvas/web", "ahp ahp/remote canvas/allow", "", "the page"},
	{"canvas/web/webtest", "", "github.com/chromedp/chromedp github.com/chromedp/cdproto", "a browser for tests"},
	{"canvas/mcp", "ahp/trace canvas canvas/appview session ahp/proof ahp", "github.com/modelcontextprotocol/go-sdk", "the agent's door"},
	{"canvas/client", "ahp/trace canvas session ahp/peer ahp/proof ahp/ws ahp ahp/seal", "github.com/cenkalti/backoff/v5 github.com/segmentio/asm", "the Go client"},
	{"canvas/local", "canvas canvas/client canvas/gateway canvas/web session ahp", "", "a renderer without a page"},
	{"canvas/standalone", "canvas canvas/client canvas/web ahp", "", "a canvas at an address of its own, without the page"},
	{"canvas/gateway", "canvas canvas/allow canvas/bridge canvas/client canvas/standalone canvas/web ahp", "", "addresses of open canvases, on the host's listener"},
	{"canvas/look", "canvas", "github.com/chromedp/chromedp github.com/chromedp/cdproto", "pictures of canvases, from a browser of this machine"},
	{"canvas/host", "ahp/trace canvas canvas/appview canvas/attach canvas/allow canvas/history canvas/dialect session/chat canvas/engine canvas/host/internal/wiring canvas/web canvas/mcp session channels channels/server ahp/proof ahp/ws ahp/access ahp/token ahp ahp/budget ahp/remote canvas/client canvas/gateway", "github.com/google/uuid", "the assembly"},
	{"canvas/host/internal/wiring", "channels", "", "lends the inside of a host to its test kit"},
	{"canvas/host/hosttest", "canvas/host canvas/host/internal/wiring channels", "", "serves a host for the length of a test"},
	{"schema/internal/codegen", "", "github.com/invopop/jsonschema", "definitions as types of other languages"},
	{"schema", "canvas session ahp schema/internal/codegen", "github.com/invopop/jsonschema", "what the tables say, for other languages"},
	{"cmd/ahp-schema", "schema", "", "writes schema's files"},
	{"testcases/wire", "ahp canvas session", "", "the published data through our types and reducers"},
	{"testcases", "ahp", "github.com/go-json-experiment/json", "data, its formats and its runner"},
	{"testcases/conform", "testcases testcases/demo testcases/wire canvas canvas/client session ahp/proof ahp/ws ahp", "", "plays the transcripts against a host elsewhere"},
	{"testcases/built", "", "", "builds the program for the commands that run it"},
	{"testcases/abuse", "testcases/built ahp/ws", "github.com/gorilla/websocket", "attacks a host elsewhere"},
	{"testcases/soak", "testcases/built ahp ahp/seal canvas canvas/client session", "", "a host under load for hours"},
	{"testcases/survey", "testcases/built", "github.com/chromedp/chromedp github.com/chromedp/cdproto", "web apps and extensions as canvases, compared with themselves"},
	{"testcases/bench", "", "", "our own parts together, measured"},
	{"testcases/demo", "canvas ahp", "", "the provider that the transcripts speak of"},
	{"testcases/editors", "", "", "published editors as clients"},
	{"cmd/ahp-canvas", "ahp canvas session cmd/ahp-canvas/internal/authoring cmd/ahp-canvas/internal/conform cmd/ahp-canvas/internal/docs cmd/ahp-canvas/internal/doctor cmd/ahp-canvas/internal/drive cmd/ahp-canvas/internal/licenses cmd/ahp-canvas/internal/people cmd/ahp-canvas/internal/reach cmd/ahp-canvas/internal/relay cmd/ahp-canvas/internal/serve cmd/ahp-canvas/internal/state cmd/ahp-canvas/internal/systemd cmd/ahp-canvas/internal/term cmd/ahp-canvas/internal/view cmd/ahp-canvas/internal/aamcmd", "github.com/spf13/cobra", "the commands, put together"},
	{"cmd/ahp-canvas/packaging", "", "", "what a release needs besides the program"},
	{"cmd/ahp-canvas/packaging/short", "", "go.yaml.in/yaml/v4", "a release for one machine, for a test"},
	{"cmd/ahp-canvas/packaging/sizes", "", "", "which modules are large"},
	{"cmd/ahp-canvas/internal/aamcmd", "ahp ahp/durable canvas canvas/client canvas/mcp canvas/outbound canvas/provider/aam canvas/provider/aam/aamcanvas canvas/provider/aam/site canvas/provider/aam/x402 cmd/ahp-canvas/internal/reach cmd/ahp-canvas/internal/term cmd/ahp-canvas/internal/userdir", "github.com/modelcontextprotocol/go-sdk github.com/spf13/cobra golang.org/x/term", "verbs: aam and its commands"},
	{"cmd/ahp-canvas/internal/authoring", "canvas/provider/aap/skill canvas/provider/extension canvas/provider/folder cmd/ahp-canvas/internal/term canvas/provider/actionsbridge/bridgecanvas ahp canvas/provider/a2ui canvas/provider/a2ui/a2uicanvas", "github.com/spf13/cobra", "verbs: new, lint and aap"},
	{"cmd/ahp-canvas/internal/conform", "ahp ahp/ws canvas canvas/mcp canvas/web cmd/ahp-canvas/internal/reach cmd/ahp-canvas/internal/term testcases testcases/conform", "github.com/spf13/cobra", "verbs: conform, check and record"},
	{"cmd/ahp-canvas/internal/docs", "cmd/ahp-canvas/internal/term", "github.com/spf13/cobra github.com/spf13/pflag github.com/yuin/goldmark", "a verb: docs"},
	{"cmd/ahp-canvas/internal/doctor", "ahp ahp/ws canvas canvas/look canvas/mcp cmd/ahp-canvas/internal/reach cmd/ahp-canvas/internal/statedir cmd/ahp-canvas/internal/term cmd/ahp-canvas/internal/userdir", "github.com/spf13/cobra", "a verb: doctor"},
	{"cmd/ahp-canvas/internal/drive", "ahp canvas canvas/mcp canvas/process cmd/ahp-canvas/internal/reach cmd/ahp-canvas/internal/statedir cmd/ahp-canvas/internal/term cmd/ahp-canvas/internal/userdir session", "github.com/spf13/cobra", "verbs: what an agent does, and mcp"},
	{"cmd/ahp-canvas/internal/listener", "ahp/trace ahp/remote canvas/web cmd/ahp-canvas/internal/term", "github.com/prometheus/client_golang github.com/spf13/cobra", "what a host and a relay share about connections"},
	{"cmd/ahp-canvas/internal/people", "ahp/token canvas canvas/host cmd/ahp-canvas/internal/statedir cmd/ahp-canvas/internal/userdir cmd/ahp-canvas/internal/reach cmd/ahp-canvas/internal/term", "github.com/spf13/cobra", "verbs: token, people and audit"},
	{"cmd/ahp-canvas/internal/licenses", "canvas/provider/a2ui/a2uicanvas cmd/ahp-canvas/internal/term", "github.com/spf13/cobra", "a verb: licenses"},
	{"cmd/ahp-canvas/internal/licenses/generate", "", "", "collects the licenses"},
	{"cmd/ahp-canvas/internal/programtest", "", "", "tests of the program as a process"},
	{"cmd/ahp-canvas/internal/reach", "ahp ahp/proof canvas canvas/mcp channels/lockfile cmd/ahp-canvas/internal/term cmd/ahp-canvas/internal/userdir", "github.com/spf13/cobra", "finds the host that a command is about"},
	{"cmd/ahp-canvas/internal/relay", "ahp/trace ahp ahp/durable ahp/relay ahp/relay/natsdir ahp/relay/signed canvas/web channels/lockfile cmd/ahp-canvas/internal/listener cmd/ahp-canvas/internal/relaykey cmd/ahp-canvas/internal/term", "github.com/prometheus/client_golang github.com/spf13/cobra", "verbs: relay and relay token"},
	{"cmd/ahp-canvas/internal/relaykey", "ahp", "", "a file between relay token and serve"},
	{"cmd/ahp-canvas/internal/serve", "ahp ahp/access ahp/budget ahp/relay ahp/ws canvas canvas/dialect canvas/allow canvas/host canvas/look canvas/outbound canvas/provider/aam canvas/provider/aam/aamcanvas canvas/provider/aam/site canvas/provider/aam/x402 channels/sqlitestore canvas/provider/aap canvas/provider/aap/aapcanvas canvas/provider/aap/notify canvas/provider/board canvas/provider/chart canvas/provider/extension canvas/provider/folder canvas/provider/form canvas/provider/loopback canvas/web channels cmd/ahp-canvas/internal/listener cmd/ahp-canvas/internal/reach cmd/ahp-canvas/internal/relaykey cmd/ahp-canvas/internal/statedir cmd/ahp-canvas/internal/systemd cmd/ahp-canvas/internal/term cmd/ahp-canvas/internal/userdir session canvas/provider/page canvas/provider/actionsbridge canvas/provider/actionsbridge/bridgecanvas canvas/provider/a2ui/a2uicanvas canvas/provider/a2ui/remote ahp/token canvas/provider/mcpapp canvas/mcp canvas/onefile ahp/seal ahp/trace", "github.com/spf13/cobra", "a verb: serve, and the host that mcp starts"},
	{"cmd/ahp-canvas/internal/state", "ahp channels/sqlitestore cmd/ahp-canvas/internal/statedir cmd/ahp-canvas/internal/term cmd/ahp-canvas/internal/userdir ahp/durable", "github.com/spf13/cobra", "verbs: what a host keeps"},
	{"cmd/ahp-canvas/internal/statedir", "ahp ahp/durable ahp/token channels channels/lockfile channels/sqlitestore cmd/ahp-canvas/internal/term cmd/ahp-canvas/internal/userdir ahp/seal", "", "the folder of one host"},
	{"cmd/ahp-canvas/internal/systemd", "", "", "the service manager: a passed listener, readiness"},
	{"cmd/ahp-canvas/internal/term", "ahp canvas canvas/mcp cmd/ahp-canvas/internal/systemd", "github.com/mattn/go-runewidth github.com/spf13/cobra golang.org/x/term", "streams, printing, errors, exit statuses"},
	{"cmd/ahp-canvas/internal/term/termtest", "cmd/ahp-canvas/internal/term", "github.com/spf13/cobra", "runs commands in a test"},
	{"cmd/ahp-canvas/internal/userdir", "", "", "folders of the user alone"},
	{"cmd/ahp-canvas/internal/view", "ahp ahp/proof ahp/relay ahp/seal ahp/ws canvas canvas/client canvas/host canvas/local canvas/mcp cmd/ahp-canvas/internal/reach cmd/ahp-canvas/internal/term session", "github.com/spf13/cobra", "a verb: view"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

// listPackages returns what each package imports, on whatever system.
func listPackages(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p goPackage
			if err := dec.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			all[p.ImportPath] = append(all[p.ImportPath], p.Imports...)
		}
	}
	return all
}

func TestLayers(t *testing.T) {
	seen := map[string]bool{}
	for path, imports := range listPackages(t) {
		name := strings.TrimPrefix(path, module)
		seen[name] = true
		i := slices.IndexFunc(layers, func(l layer) bool { return l.pkg == name })
		if i < 0 {
			t.Errorf("%s is not a row of the layers: say what it may import, and why", name)
			continue
		}
		slices.Sort(imports)
		imports = slices.Compact(imports)
		for _, imp := range imports {
			if !allowed(imp, layers[i].ours, layers[i].foreign) {
				t.Errorf("%s imports %s, which its row (%s) does not allow", name, imp, layers[i].why)
			}
		}
		for _, spare := range unused(imports, layers[i]) {
			t.Errorf("the row of %s allows %s, which it does not import", name, spare)
		}
	}
	for _, l := range layers {
		if !seen[l.pkg] {
			t.Errorf("row %s has no package", l.pkg)
		}
	}
}

// unused returns what a row allows and the imports do not have.
func unused(imports []string, l layer) (spare []string) {
	for ours := range strings.FieldsSeq(l.ours) {
		if !slices.Contains(imports, module+ours) {
			spare = append(spare, ours)
		}
	}
	for m := range strings.FieldsSeq(l.foreign) {
		if !slices.ContainsFunc(imports, func(imp string) bool { return under(imp, m) }) {
			spare = append(spare, m)
		}
	}
	return spare
}

func under(imp, module string) bool { return imp == module || strings.HasPrefix(imp, module+"/") }

func allowed(imp, ours, foreign string) bool {
	if rest, ok := strings.CutPrefix(imp, module); ok {
		return slices.Contains(strings.Fields(ours), rest)
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return true // standard library
	}
	return slices.ContainsFunc(strings.Fields(foreign), func(m string) bool { return under(imp, m) })
}
