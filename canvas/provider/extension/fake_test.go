package extension

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// TestMain also runs the fake extension: when a test's runner starts the test binary
// as Node, it runs the script in extension.mjs.
func TestMain(m *testing.M) {
	if os.Getenv("FAKE_EXTENSION") != "" {
		script, _ := os.ReadFile(os.Args[1])
		(&fakeExtension{in: bufio.NewReader(os.Stdin)}).run(string(script))
		os.Exit(0)
	}
	if os.Getenv("FAKE_SERVER") != "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Println(l.Addr())
		hang()
	}
	ahptest.VerifyNoLeaks(m)
}

// fakeExtension is an extension that runs a script, one step per line:
//
//	say TEXT        writes to standard error
//	raw "TEXT"      writes to standard output
//	exit N          exits with status N
//	once N          creates the file "once", installs extension.next as its script, and exits
//	deaf            ignores SIGTERM and the end of standard input
//	stay            ignores the end of standard input
//	child           starts a deaf child, and writes its pid to the file "child"
//	prompt N        sends a prompt of N bytes as soon as it serves
//	hang            does nothing
//	serve a b       declares the canvases a and b, and serves them
type fakeExtension struct {
	in      *bufio.Reader
	seq     int
	deaf    bool
	prompts []int
}

func (f *fakeExtension) run(script string) {
	for line := range strings.Lines(script) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "say":
			fmt.Fprintln(os.Stderr, rest)
		case "raw":
			text, err := strconv.Unquote(rest)
			if err != nil {
				panic(err)
			}
			fmt.Print(text)
		case "exit":
			n, _ := strconv.Atoi(rest)
			os.Exit(n)
		case "once":
			if os.WriteFile("once", nil, 0o600) == nil {
				n, _ := strconv.Atoi(rest)
				_ = os.Rename("extension.next", "extension.mjs")
				os.Exit(n)
			}
		case "stay":
			f.deaf = true
		case "prompt":
			n, _ := strconv.Atoi(rest)
			f.prompts = append(f.prompts, n)
		case "deaf":
			f.deaf = true
			signal.Ignore(syscall.SIGTERM)
		case "child":
			if err := os.WriteFile("child.mjs", []byte("deaf\nhang"), 0o600); err != nil {
				panic(err)
			}
			cmd := exec.Command(os.Args[0], "child.mjs")
			if err := cmd.Start(); err != nil {
				panic(err)
			}
			if err := os.WriteFile("child", []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
				panic(err)
			}
		case "hang":
			hang()
		case "serve":
			f.serve(strings.Fields(rest))
		}
	}
}

// hang waits longer than any test. An empty select would make the runtime report a
// deadlock.
func hang() { <-time.After(24 * time.Hour) }

type fakeMessage struct {
	ID     any             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

func (f *fakeExtension) write(m map[string]any) {
	m["jsonrpc"] = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (f *fakeExtension) read() fakeMessage {
	var n int
	for {
		line, err := f.in.ReadString('\n')
		if err != nil {
			if f.deaf {
				hang() // like an extension whose HTTP server keeps it alive
			}
			os.Exit(0)
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		_, _ = fmt.Sscanf(line, "Content-Length: %d", &n)
	}
	body := make([]byte, n)
	_, _ = io.ReadFull(f.in, body)
	var m fakeMessage
	if err := json.Unmarshal(body, &m); err != nil {
		panic(err)
	}
	return m
}

// ask sends a request and waits for the response. It serves the host's requests
// meanwhile.
func (f *fakeExtension) ask(method string, params any) fakeMessage {
	f.seq++
	id := f.seq
	f.write(map[string]any{"id": id, "method": method, "params": params})
	for {
		m := f.read()
		if m.Method == "" && fmt.Sprint(m.ID) == strconv.Itoa(id) {
			return m
		}
		f.handle(m)
	}
}

func (f *fakeExtension) serve(ids []string) {
	f.ask("connect", map[string]any{"supportedTaskKinds": []string{}})
	actions := []map[string]any{}
	for _, name := range []string{"echo", "crash", "fail", "error", "silent", "slow", "pid", "env", "ask", "shout", "words", "flood"} {
		actions = append(actions, map[string]any{"name": name})
	}
	canvases := []map[string]any{}
	for _, id := range ids {
		canvases = append(canvases, map[string]any{"id": id, "displayName": "Canvas " + id, "description": "For tests", "actions": actions})
	}
	if m := f.ask("session.resume", map[string]any{"sessionId": os.Getenv("SESSION_ID"), "canvases": canvases}); m.Error != nil {
		fmt.Fprintf(os.Stderr, "session.resume failed: %s\n", m.Error)
		os.Exit(1)
	}
	for _, n := range f.prompts {
		m := f.ask("session.send", map[string]any{"sessionId": os.Getenv("SESSION_ID"), "prompt": strings.Repeat("x", n)})
		fmt.Fprintf(os.Stderr, "prompt of %d bytes: %s\n", n, m.Error)
	}
	for {
		f.handle(f.read())
	}
}

// handle serves a request of the host and appends it to the file "requests".
func (f *fakeExtension) handle(m fakeMessage) {
	var p struct {
		InstanceID string          `json:"instanceId"`
		ActionName string          `json:"actionName"`
		Input      json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(m.Params, &p)
	note(m.Method + " " + p.InstanceID)
	answer := func(result any) { f.write(map[string]any{"id": m.ID, "result": result}) }
	switch m.Method {
	case "canvas.open":
		var in map[string]any
		_ = json.Unmarshal(p.Input, &in)
		if in["crash"] != nil {
			os.Exit(9)
		}
		if in["late"] != nil { // respond only after the host's next request
			next := f.read()
			f.handle(next)
		}
		delete(in, "late")
		answer(in)
	case "canvas.action.invoke":
		f.invoke(p.ActionName, p.Input, m.ID, answer)
	case "canvas.close":
		answer(nil)
	}
}

func (f *fakeExtension) invoke(action string, input json.RawMessage, id any, answer func(any)) {
	switch action {
	case "echo":
		answer(input)
	case "crash":
		fmt.Fprintln(os.Stderr, "\x1b[31mThe crash was requested.\x1b[0m")
		os.Exit(7)
	case "fail":
		f.write(map[string]any{"id": id, "error": map[string]any{
			"code": -32603, "message": "outer", "data": map[string]any{"code": "workspace_unavailable", "message": "no workspace"},
		}})
	case "error":
		f.write(map[string]any{"id": id, "error": map[string]any{"code": -32000, "message": "plain"}})
	case "pid":
		answer(os.Getpid())
	case "slow": // respond when the host's next request has arrived
		next := f.read()
		answer(nil)
		f.handle(next)
	case "env":
		answer(map[string]any{"session": os.Getenv("SESSION_ID"), "token": os.Getenv("AHP_CANVAS_TOKEN")})
	case "ask":
		var q struct {
			Method string `json:"method"`
			Params any    `json:"params"`
		}
		_ = json.Unmarshal(input, &q)
		got := f.ask(q.Method, q.Params)
		answer(map[string]any{"result": got.Result, "error": got.Error})
	case "shout":
		fmt.Println("printed, not sent")
		answer(nil)
	case "flood":
		line := bytes.Repeat([]byte("x"), 1023)
		for range 2048 {
			_, _ = os.Stderr.Write(append(line, '\n'))
		}
		answer(nil)
	}
}

func note(line string) {
	file, err := os.OpenFile("requests", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	_, _ = file.WriteString(line + "\n")
}

// folderOf creates an extension with a script and returns its folder.
func folderOf(t *testing.T, name, script string) Folder {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, mainModule), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := Find(dir)
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	return found[0]
}
