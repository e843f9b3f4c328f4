package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// Every transcript runs over the whole stack (net/http, WebSocket, JSON-RPC, log,
// services) on an in-memory network, with a clock that only "@" advances. What clients of 0.5
// and 0.6 receive is byte for byte the same beside a client of 1.0 that sees the same session,
// chat and canvases, numbers of entries included.
func TestTranscripts(t *testing.T) {
	all, err := testcases.Transcripts()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d transcripts: %v", len(all), err)
	}
	for _, transcript := range all {
		t.Run(transcript.Name, func(t *testing.T) {
			t.Parallel()
			var alone, beside []string
			synctest.Test(t, func(t *testing.T) { alone = playBeside(t, transcript, "") })
			if testing.Short() || slices.Contains(transcript.Needs(), testcases.NeedsLater) {
				return
			}
			synctest.Test(t, func(t *testing.T) { beside = playBeside(t, transcript, "1.0.0") })
			for i := range min(len(alone), len(beside)) {
				if alone[i] != beside[i] {
					t.Fatalf("frame %d is\n%s\nalone, and beside a client of 1.0\n%s", i, alone[i], beside[i])
				}
			}
			if len(alone) != len(beside) {
				t.Errorf("%d frames alone, %d beside a client of 1.0", len(alone), len(beside))
			}
		})
	}
}

const (
	address    = "127.0.0.1:8080"
	viewToken  = "view-token"
	agentToken = "agent-token"

	readToken, lookToken, clientToken = "read-token", "look-token", "client-token"
)

// env implements testcases.Env with a host.
type env struct {
	t     *testing.T
	net   *ahptest.Net
	host  *host.Host
	regs  map[string]canvas.Registration
	agent *mcp.ClientSession
	conns []*testConn
	end   context.CancelFunc
	done  chan error
}

func newEnv(t *testing.T) *env { return newEnvWith(t, nil) }

// newEnvWith is newEnv with a browser for pictures.
func newEnvWith(t *testing.T, browser host.Browser) *env {
	t.Helper()
	e := &env{t: t, net: &ahptest.Net{}, regs: map[string]canvas.Registration{}, done: make(chan error, 1)}
	ln, err := e.net.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ids := 0
	e.host, err = host.New(host.Options{
		ViewToken: viewToken, AgentToken: agentToken, Version: "test", Browser: browser,
		Tokens: []ws.Token{
			{Secret: "token-of-c-bound", Role: host.RoleView, ClientID: "c-bound"},
			{Secret: readToken, Role: host.RoleRead}, {Secret: lookToken, Role: host.RoleLook}, {Secret: clientToken, Role: host.RoleClient},
		},
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			ids++
			return fmt.Sprint("id", ids)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.register("demo", "Demo", demoDeclaration)
	e.register("other", "Other", otherDeclarations...)
	ctx, end := context.WithCancel(context.Background())
	e.end = end
	go func() { e.done <- e.host.Serve(ctx, nearby{ln}) }()
	e.connectAgent()
	return e
}

// nearby is a listener whose connections come from this machine.
type nearby struct{ net.Listener }

func (l nearby) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return nearbyConn{c}, err
}

type nearbyConn struct{ net.Conn }

func (nearbyConn) RemoteAddr() net.Addr { return ahptest.Addr("127.0.0.1:9") }

func (e *env) register(id, name string, set ...canvas.Declaration) {
	reg, err := e.host.Canvases().Register(canvas.Extension{ID: id, Name: name}, demo{}, set...)
	if err != nil {
		e.t.Fatal(err)
	}
	e.regs[id] = reg
}

// connectAgent connects another implementation of MCP.
func (e *env) connectAgent() {
	here, there := mcp.NewInMemoryTransports()
	if _, err := e.host.Tools().Connect(e.t.Context(), there); err != nil {
		e.t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(e.t.Context(), here, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	e.agent = session
}

// stop closes the connections and checks that the host drains.
func (e *env) stop() {
	for _, c := range e.conns {
		_ = c.Close(false)
	}
	_ = e.agent.Close()
	e.end()
	if err := <-e.done; err != nil {
		e.t.Errorf("the host did not drain: %v", err)
	}
}

func (e *env) Flush() { synctest.Wait() }

func (e *env) Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (e *env) Agent(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	result, err := e.agent.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return nil, err
	}
	if result.IsError {
		return nil, &testcases.AgentError{Data: raw}
	}
	return raw, nil
}

func (e *env) Host(_ context.Context, what string) error {
	word, rest, _ := strings.Cut(what, " ")
	switch word {
	case "gone":
		e.regs[rest].SetReachable(false)
	case "back":
		e.regs[rest].SetReachable(true)
	case "title":
		uri, title, _ := strings.Cut(rest, " ")
		return e.host.Log().Update(func(tx *channels.Tx) error {
			return tx.Append(uri, session.TitleChanged{Title: title})
		})
	default:
		return fmt.Errorf("this host cannot %q", what)
	}
	synctest.Wait()
	return nil
}

func (e *env) Dial(ctx context.Context, args map[string]string) (testcases.Conn, error) {
	token := map[string]string{"": agentToken, "read": readToken, "look": lookToken, "client": clientToken, "view": viewToken, "agent": agentToken, "wrong": "wrong", "none": ""}[args["token"]]
	if client := args["client"]; client != "" {
		token = "token-of-" + client
	}
	var raw net.Conn
	socket, err := ws.Dial(ctx, "ws://"+address+"/ahp", ws.DialOptions{
		Token: token,
		NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := e.net.Dial(ctx, network, addr)
			raw = conn
			return conn, err
		},
	})
	if err != nil {
		return nil, err
	}
	c := &testConn{socket: socket, raw: raw, frames: make(chan []byte, 1<<16)}
	socket.SetReadLimit(64 << 20)
	go c.read()
	e.conns = append(e.conns, c)
	return c, nil
}

// testConn is a connection of a transcript.
type testConn struct {
	socket *ws.Conn
	raw    net.Conn
	frames chan []byte // closed at the end
}

func (c *testConn) read() {
	defer close(c.frames)
	for {
		msg, err := c.socket.ReadMessage()
		if err != nil {
			return
		}
		c.frames <- msg
	}
}

func (c *testConn) Send(frame []byte) error {
	err := c.socket.WriteBatch([][]byte{frame})
	if ws.CodeOf(err) != 0 {
		return nil // the next expectation checks the closed connection
	}
	return err
}

func (c *testConn) Next() ([]byte, error) {
	synctest.Wait()
	select {
	case frame, ok := <-c.frames:
		if ok {
			return frame, nil
		}
	default:
		return nil, testcases.ErrSilent
	}
	return nil, &testcases.Closed{Code: int(ws.CodeOf(c.socket.Err()))}
}

func (c *testConn) Close(cut bool) error {
	if cut {
		_ = c.raw.Close()
	}
	c.socket.Close(ws.CodeNormal, "")
	c.socket.Wait()
	synctest.Wait()
	return nil
}
