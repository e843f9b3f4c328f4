package programtest

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// root is the repository.
const root = "../../../.."

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// blocks returns the code blocks of the README that are marked with a language.
func blocks(t *testing.T, language string) (found []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text(t, "README.md"), -1) {
		found = append(found, m[1])
	}
	if len(found) == 0 {
		t.Fatalf("the README has no code block %q", language)
	}
	return found
}

// reader follows the README: it runs its commands in order, in an empty folder.
type reader struct {
	*machine
	dir, app    string   // the folder; the address of the web app
	appRuns     bool     // a host has waited for the app, which runs since
	relay, link string   // of the relay and the host that started last
	running     []string // commands that were started and not stopped yet
}

// TestReadmeCommands runs every command in the README, each as it stands, except that
// ports of this machine are free ones: in an empty folder and with nothing else running, as
// in a fresh clone. Commands that run until Ctrl-C print what they should and are stopped at
// the end.
func TestReadmeCommands(t *testing.T) {
	needNode(t)
	r := &reader{machine: newMachine(t), dir: t.TempDir()}
	r.app = "127.0.0.1:" + freePort(t)
	// The rest of a command line is for the shell, which also changes to the folder.
	r.via = []string{"sh", "-c", `cd "$0" && eval "exec \"\$1\" $2"`, r.dir}
	for line := range strings.Lines(strings.Join(blocks(t, "sh"), "")) {
		if line = strings.TrimSpace(line); line != "" {
			r.follow(line)
		}
	}
	if want := []string{"serve", "events", "serve", "serve", "serve", "serve", "relay", "serve", "record"}; !slices.Equal(r.running, want) {
		t.Errorf("started %v, want %v", r.running, want)
	}
}

// follow runs one command line.
func (r *reader) follow(line string) {
	r.t.Helper()
	if path, ok := strings.CutPrefix(line, "go install "); ok {
		r.install(path)
		return
	}
	args, ok := strings.CutPrefix(line, "ahp-canvas ")
	if !ok {
		r.t.Fatalf("the test cannot run %q", line)
	}
	args = strings.ReplaceAll(args, "127.0.0.1:3000", r.app)
	switch {
	case strings.HasPrefix(args, "record "):
		r.records(args)
	case args == "serve" || strings.HasPrefix(args, "serve "):
		r.serves(strings.ReplaceAll(args, "localhost:8443", r.relay))
	case strings.HasPrefix(args, "relay --"):
		r.running = append(r.running, "relay")
		page, err := url.Parse(strings.TrimSpace(r.start(args + " --listen 127.0.0.1:0").line))
		if err != nil || page.Port() == "" {
			r.t.Fatalf("%q: the page is %v, %v", line, page, err)
		}
		r.relay = page.Host
	case strings.HasPrefix(args, "events "):
		r.running = append(r.running, "events")
		r.person(`{"sample":"do","ref":"r","action":"add_card","input":{"list":"To do","title":"Mine"}}`)
		if p := r.start(args); !strings.Contains(p.line, "Mine") {
			r.t.Errorf("%q printed %q", line, p.line)
		}
	default:
		r.do(0, args)
		if r.err != "" {
			r.t.Errorf("%q complained: %s", line, r.err)
		}
	}
}

// install builds what go install would install, in the state that it has here.
func (r *reader) install(path string) {
	r.t.Helper()
	cmd := exec.Command("go", "build", "-o", os.DevNull, strings.TrimSuffix(path, "@latest"))
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Errorf("go install %s: %v\n%s", path, err, out)
	}
}

// serves starts a host, which must print its link and nothing to complain about.
func (r *reader) serves(args string) {
	r.t.Helper()
	r.running = append(r.running, "serve")
	p := r.start(args)
	r.link = strings.TrimSpace(p.line)
	if want := regexp.MustCompile(`^http://localhost:\d+/\S*#tkn=`); !want.MatchString(r.link) {
		r.t.Errorf("%q printed %q", args, r.link)
	}
	if strings.Contains(args, "--relay ") && !strings.HasPrefix(r.link, "http://"+r.relay+"/") {
		r.t.Errorf("%q printed %s, which does not lead to the relay %s", args, r.link, r.relay)
	}
	if strings.Contains(args, "--canvas-url ") && !r.appRuns {
		r.startsApp(p)
		return
	}
	if noise := (&server{errs: p.errs}).noise(); noise != "" {
		r.t.Errorf("%q complained: %s", args, noise)
	}
}

// startsApp starts the web app that a host waits for, whose canvas opens then.
func (r *reader) startsApp(p *program) {
	r.t.Helper()
	p.errs.await(r.t, "nothing answers at http://"+r.app+" yet")
	ln, err := net.Listen("tcp", r.app)
	if err != nil {
		r.t.Fatal(err)
	}
	app := &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("an app")) })}}
	app.Start()
	r.appRuns = true
	r.t.Cleanup(app.Close)
	p.errs.await(r.t, `the canvas "app" is open`)
	c := r.dial()
	defer c.Close()
	if s, _ := c.Session(host.DefaultSession); len(s.OpenCanvases) != 1 || s.OpenCanvases[0].InstanceID != "app" {
		r.t.Errorf("open: %+v", s.OpenCanvases)
	}
}

// records starts a recording, through which a client reaches the newest host.
func (r *reader) records(args string) {
	r.t.Helper()
	r.running = append(r.running, "record")
	address, _, ok := strings.Cut(strings.TrimPrefix(r.start(args).line, "Clients connect to "), ". ")
	hosts, err := reach.Running(userdir.Runtime(r.getenv))
	if err != nil || len(hosts) == 0 || !ok {
		r.t.Fatalf("%q listens at %q, and %d hosts run: %v", args, address, len(hosts), err)
	}
	c, err := client.Dial(r.t.Context(), address, client.Options{Token: hosts[0].ViewToken})
	if err != nil {
		r.t.Fatalf("%q does not lead to the host: %v", args, err)
	}
	c.Close()
}

// person sends a message to the board of the newest host, as its page does.
func (r *reader) person(payload string) {
	r.t.Helper()
	c := r.dial()
	defer c.Close()
	s, _ := c.Session(host.DefaultSession)
	channel := s.OpenCanvases[0].Channel
	if _, err := c.Subscribe(r.t.Context(), channel); err != nil {
		r.t.Fatal(err)
	}
	if err := c.Message(r.t.Context(), channel, ahp.Value(payload)); err != nil {
		r.t.Fatal(err)
	}
}

// dial connects to the newest host, with the token in its link.
func (r *reader) dial() *client.Client {
	r.t.Helper()
	link, _ := url.Parse(r.link)
	said, _ := url.ParseQuery(link.Fragment)
	c, err := client.Dial(r.t.Context(), "ws://"+link.Host+"/ahp", client.Options{Token: said.Get("tkn"), Subscriptions: []string{host.DefaultSession}})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// TestReadmeMCP starts the program as the README's configuration of an MCP client says.
func TestReadmeMCP(t *testing.T) {
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(blocks(t, "json")[0]), &config); err != nil {
		t.Fatal(err)
	}
	if s := config.MCPServers["canvas"]; s.Command != "ahp-canvas" || !slices.Equal(s.Args, []string{"mcp"}) {
		t.Fatalf("the README starts %+v", s)
	}
	a := newMachine(t).agent()
	if got := string(a.tool("open_canvas", `{"canvasId":"board"}`)); !strings.Contains(got, `"link":"http://localhost:`) {
		t.Errorf("open_canvas answers %s", got)
	}
	a.leave()
}

// TestReadmeProgram builds and runs the Go program of the README. Its canvas is that of
// the package's example.
func TestReadmeProgram(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	code := blocks(t, "go")[0]
	example := text(t, "canvas/host/example_test.go")
	for _, part := range [][2]string{{"// Greeting", "}\n"}, {"var files", "\n"}, {"\tc := canvas.New", "h.Add(c); err != nil {\n"}} {
		_, after, _ := strings.Cut(code, part[0])
		body, _, ok := strings.Cut(after, part[1])
		if !ok || !strings.Contains(example, part[0]+body+part[1]) {
			t.Errorf("the README has, and canvas/host/example_test.go has not:\n%s", part[0]+body)
		}
	}
	file, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "hello")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m.via = []string{"sh", "-c", `exec "$0"`, program}
	r := &reader{machine: m, link: strings.TrimSpace(m.start().line)}
	c := r.dial()
	defer c.Close()
	s, _ := c.Session(host.DefaultSession)
	if len(s.Canvases) != 1 || s.Canvases[0].CanvasID != "hello" || s.Canvases[0].Actions[0].Name != "greet" {
		t.Errorf("the program declares %+v", s.Canvases)
	}
}
