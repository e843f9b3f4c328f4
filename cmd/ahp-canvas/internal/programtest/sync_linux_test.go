package programtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// TestSyncBeforeAnswer traces a host's system calls. Each request has a unique mark.
// First the mark must be written to the store's log, then the log synced, and only then
// the answer written to the socket.
func TestSyncBeforeAnswer(t *testing.T) {
	m, trace := tracing(t, "write,writev,sendto,sendmsg,pwrite64,pwritev,fsync,fdatasync")
	s := m.serve()
	process, err := os.FindProcess(s.PID) // s.cmd is strace
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Kill() })
	a := &marking{t: t, server: s}
	a.enter()
	const n = 200
	for i := range n {
		[]func(string){a.createSession, a.openBoard, a.saveCard}[i%3](fmt.Sprintf("mark%dx", i))
	}
	a.conn.Close(ws.CodeNormal, "")
	a.conn.Wait()
	_ = process.Signal(syscall.SIGTERM)
	<-s.done
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	seen := readTrace(string(text))
	good := 0
	for i := range n {
		if why := seen.order(fmt.Sprintf("mark%dx", i)); why != "" {
			t.Errorf("%s %d: %s", []string{"createSession", "open", "save"}[i%3], i, why)
			continue
		}
		good++
	}
	t.Logf("%d of %d answers were written after the sync of their commit (%d syncs, %d bytes of trace)", good, n, len(seen.syncs), len(text))
}

// tracing returns a machine whose commands leave a trace of system calls.
func tracing(t *testing.T, calls string) (m *machine, trace string) {
	t.Helper()
	if os.Getenv("AHP_STRACE") == "" {
		t.Skip("set AHP_STRACE=1: it traces a process, which not every machine allows")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("there is no strace (Debian's package strace)")
	}
	m, trace = newMachine(t), filepath.Join(t.TempDir(), "trace")
	m.via = []string{"strace", "-f", "-y", "-s", "16384", "-o", trace, "-e", "trace=" + calls}
	return m, trace
}

// TestPrivateFilesAreSynced checks that a replaced file is synced before it gets its name.
// After a power cut it is the old one or the new one; an empty one would lose every link
// and token.
func TestPrivateFilesAreSynced(t *testing.T) {
	m, trace := tracing(t, "fsync,rename,renameat,renameat2")
	dir := t.TempDir()
	tokens, key := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "laptop.json")
	m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop", "--out", key)
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	synced := map[string]bool{}
	var whole []string
	for line := range strings.Lines(string(text)) {
		if call := regexp.MustCompile(`fsync\(\d+<(.*)>\) += 0`).FindStringSubmatch(line); call != nil {
			synced[call[1]] = true
		}
		if call := regexp.MustCompile(`rename.*"(.*)",.*"(.*)".* = 0`).FindStringSubmatch(line); call != nil && synced[call[1]] {
			whole = append(whole, call[2])
		}
	}
	if !slices.Equal(whole, []string{tokens, key}) {
		t.Errorf("synced before their renaming: %q\n%s", whole, text)
	}
}

// marking is a client on a WebSocket, with an agent beside it.
type marking struct {
	t      *testing.T
	server *server
	conn   *ws.Conn
	door   *mcp.Client
	board  struct {
		Channel    string `json:"channel"`
		InstanceID string `json:"instanceId"`
	}
}

func (a *marking) enter() {
	var err error
	if a.conn, err = ws.Dial(a.t.Context(), a.server.AHP, ws.DialOptions{Token: a.server.AgentToken}); err != nil {
		a.t.Fatal(err)
	}
	if a.door, err = mcp.Dial(a.t.Context(), mcp.ClientOptions{URL: a.server.MCP, Token: a.server.AgentToken}); err != nil {
		a.t.Fatal(err)
	}
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"channel":"ahp-root://","clientId":"marking","protocolVersions":["0.6.0"],"capabilities":{"canvas":{}},"initialSubscriptions":["ahp-root://",%q]}}`, host.DefaultSession), `"id":"hello"`)
}

// say sends a message and reads until a message contains a text.
func (a *marking) say(frame, until string) {
	a.t.Helper()
	if frame != "" {
		if err := a.conn.WriteBatch([][]byte{[]byte(frame)}); err != nil {
			a.t.Fatal(err)
		}
	}
	for {
		m, err := a.conn.ReadMessage()
		if err != nil {
			a.t.Fatal(err)
		}
		if strings.Contains(string(m), until) {
			if strings.Contains(string(m), `"error"`) {
				a.t.Fatalf("%s: %s", frame, m)
			}
			return
		}
	}
}

func (a *marking) createSession(mark string) {
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"createSession","params":{"channel":"ahp-session:/%s"}}`, mark, mark), fmt.Sprintf(`"id":%q`, mark))
}

// openBoard has the agent open a board, which the client sees in the session.
func (a *marking) openBoard(mark string) {
	raw, err := a.door.Call(a.t.Context(), "open_canvas", ahp.MustMarshal(map[string]any{"canvasId": "board", "instanceId": mark}))
	if err == nil {
		err = unmarshalLoosely(raw, &a.board)
	}
	if err != nil {
		a.t.Fatalf("%s, %v", raw, err)
	}
	a.say("", mark)
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%s","method":"subscribe","params":{"channel":%q}}`, a.board.Channel, a.board.Channel), fmt.Sprintf(`"id":"s%s"`, a.board.Channel))
}

// saveCard does what the board's page does: it sends a message to the provider, which
// answers that it is done.
func (a *marking) saveCard(mark string) {
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":%q,"clientSeq":%s,"action":{"type":"canvas/message","payload":{"sample":"do","ref":%q,"action":"add_card","input":{"list":"To do","title":%q}}}}}`,
		a.board.Channel, strings.Trim(mark, "markx"), mark, mark), `"sample":"done"`)
	if _, err := a.door.Call(a.t.Context(), "close_canvas", ahp.MustMarshal(map[string]any{"instanceId": a.board.InstanceID})); err != nil {
		a.t.Fatal(err)
	}
}

// traced holds when things happened, as lines of a trace.
type traced struct {
	kept  map[string]int // the first write of a mark to the log
	sent  map[string]int // its first write to a socket as an acknowledgment
	syncs [][2]int       // of the log: start, and end without an error
}

var (
	traceMark  = regexp.MustCompile(`mark\d+x`)
	logWrite   = regexp.MustCompile(`^(\d+) +pwrite64\(\d+<[^>]*store\.db-wal>`)
	socketSend = regexp.MustCompile(`^\d+ +(?:write|writev|sendto|sendmsg)\(\d+<(?:socket|TCP)`)
	syncBegun  = regexp.MustCompile(`^(\d+) +f(?:data)?sync\(\d+<[^>]*store\.db-wal>`)
	syncOver   = regexp.MustCompile(`^(\d+) +(?:f(?:data)?sync\(.*|<\.\.\. f(?:data)?sync resumed>.*)\) += 0$`)
)

func readTrace(text string) *traced {
	seen := &traced{kept: map[string]int{}, sent: map[string]int{}}
	begun := map[string]int{} // by thread
	at := 0
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimRight(line, "\n")
		if m := syncBegun.FindStringSubmatch(line); m != nil {
			begun[m[1]] = at
		}
		switch m := syncOver.FindStringSubmatch(line); {
		case m != nil:
			if began := begun[m[1]]; began > 0 {
				seen.syncs = append(seen.syncs, [2]int{began, at})
			}
			delete(begun, m[1])
		case logWrite.MatchString(line):
			first(seen.kept, line, at)
		case socketSend.MatchString(line) && acknowledges(line):
			first(seen.sent, line, at)
		}
	}
	return seen
}

func first(of map[string]int, line string, at int) {
	for _, mark := range traceMark.FindAllString(line, -1) {
		if of[mark] == 0 {
			of[mark] = at
		}
	}
}

// acknowledges reports whether a line is more than the echo of a message, which says only
// that the provider received it.
func acknowledges(line string) bool {
	return !strings.Contains(line, `\"sample\":\"do\"`) || strings.Contains(line, `\"sample\":\"done\"`) || strings.Contains(line, `\"sample\":\"state\"`)
}

// order returns what is wrong with the order of a mark, or "".
func (s *traced) order(mark string) string {
	kept, sent := s.kept[mark], s.sent[mark]
	switch {
	case sent == 0:
		return "no answer in the trace"
	case kept == 0:
		return "answered, and never written to the log"
	case kept > sent:
		return fmt.Sprintf("answered at line %d, written to the log at line %d", sent, kept)
	}
	for _, sync := range s.syncs {
		if kept < sync[0] && sync[1] < sent {
			return ""
		}
	}
	return fmt.Sprintf("written to the log at line %d, answered at line %d, and no sync between", kept, sent)
}
