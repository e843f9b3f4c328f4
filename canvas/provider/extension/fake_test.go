package extension

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

// TestMain also is the extension: where a runner of a test starts this binary as
// its Node, it runs the script that stands in extension.mjs.
func TestMain(m *testing.M) {
	if os.Getenv("FAKE_EXTENSION") != "" {
		script, _ := os.ReadFile(os.Args[1])
		(&fakeExtension{in: bufio.NewReader(os.Stdin)}).run(string(script))
		os.Exit(0)
	}
	ahptest.VerifyNoLeaks(m)
}

// fakeExtension is an extension that does what its script says, a line a step:
//
//	say TEXT        to standard error
//	raw "TEXT"      to standard output
//	exit N          ends
//	once N          ends, if the folder has no file "once" yet
//	deaf            heeds neither SIGTERM nor the end of standard input
//	stay            heeds SIGTERM only
//	child           starts a child that heeds nothing, and notes its pid in "child"
//	tell N          sends a prompt of N bytes as soon as it serves
//	hang            does nothing any more
//	serve a b       declares the canvases a and b, and serves them
type fakeExtension struct {
	in   *bufio.Reader
	seq  int
	deaf bool
	tell []int
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
		case "tell":
			n, _ := strconv.Atoi(rest)
			f.tell = append(f.tell, n)
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

// hang waits longer than any test. The runtime would end a program that waits for
// nothing.
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
				hang() // as an extension does whose server keeps it alive
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

// ask sends a request and waits for its answer; requests of the host's are
// served meanwhile.
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
	for _, name := range []string{"echo", "crash", "fail", "error", "silent", "pid", "env", "ask", "shout", "words", "flood"} {
		actions = append(actions, map[string]any{"name": name})
	}
	canvases := []map[string]any{}
	for _, id := range ids {
		canvases = append(canvases, map[string]any{"id": id, "displayName": "Canvas " + id, "description": "For tests", "actions": actions})
	}
	if m := f.ask("session.resume", map[string]any{"sessionId": os.Getenv("SESSION_ID"), "canvases": canvases}); m.Error != nil {
		fmt.Fprintf(os.Stderr, "not joined: %s\n", m.Error)
		os.Exit(1)
	}
	for _, n := range f.tell {
		m := f.ask("session.send", map[string]any{"sessionId": os.Getenv("SESSION_ID"), "prompt": strings.Repeat("x", n)})
		fmt.Fprintf(os.Stderr, "told %d: %s\n", n, m.Error)
	}
	for {
		f.handle(f.read())
	}
}

// handle serves a request of the host's. What was asked goes to the file
// "asked", a line each.
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
		if in["late"] != nil { // until the host has asked for something else
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
		fmt.Fprintln(os.Stderr, "\x1b[31mI was told to.\x1b[0m")
		os.Exit(7)
	case "fail":
		f.write(map[string]any{"id": id, "error": map[string]any{
			"code": -32603, "message": "outer", "data": map[string]any{"code": "workspace_unavailable", "message": "no workspace"},
		}})
	case "error":
		f.write(map[string]any{"id": id, "error": map[string]any{"code": -32000, "message": "plain"}})
	case "pid":
		answer(os.Getpid())
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
	file, err := os.OpenFile("asked", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	_, _ = file.WriteString(line + "\n")
}

// folderOf writes an extension with a script.
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
