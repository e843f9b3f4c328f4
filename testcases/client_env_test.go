package testcases_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

const (
	clientAddress = "127.0.0.1:8080"
	clientToken   = "view-token"
)

// goClient is the Go client as a testcases.Client. Its host is an in-memory
// listener that sends only what the transcript sends.
type goClient struct {
	net      ahptest.Net
	server   *http.Server
	accepted chan *hostConn
	client   *client.Client

	mu    sync.Mutex
	wires []*ahptest.Conn
	all   []*hostConn
	done  chan error // receives the error of what was started last
	ended bool
	err   error
}

func newGoClient(t *testing.T) *goClient {
	c := &goClient{accepted: make(chan *hostConn, 16)}
	l, err := c.net.Listen(clientAddress)
	if err != nil {
		t.Fatal(err)
	}
	guard := &ws.Guard{Hosts: []string{clientAddress}, Tokens: []ws.Token{{Secret: clientToken, Role: "view"}}}
	c.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/proof" { // not part of AHP
			http.NotFound(w, r)
			return
		}
		socket, _, err := ws.Accept(w, r, ws.AcceptOptions{Guard: guard})
		if err != nil {
			t.Error(err)
			return
		}
		c.accept(socket)
	})}
	go func() { _ = c.server.Serve(l) }()
	return c
}

func (c *goClient) accept(socket *ws.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &hostConn{socket: socket, wire: c.wires[len(c.wires)-1], frames: make(chan []byte, 1024)}
	c.all = append(c.all, h)
	go h.read()
	c.accepted <- h
}

func (c *goClient) stop() {
	if c.client != nil {
		c.client.Close()
	}
	_ = c.server.Close()
	for _, h := range c.all {
		_ = h.Close(false)
	}
}

func (c *goClient) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := c.net.Dial(ctx, network, addr)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.wires = append(c.wires, nc.(*ahptest.Conn))
	}
	return nc, err
}

func (c *goClient) Flush() { synctest.Wait() }

func (c *goClient) Pass(d time.Duration) { time.Sleep(d) }

func (c *goClient) Accept() (testcases.Conn, error) {
	select {
	case h := <-c.accepted:
		return h, nil
	default:
		return nil, testcases.ErrSilent
	}
}

func (c *goClient) State(uri string) (ahp.Value, bool) {
	snap, ok := c.client.State(uri)
	if !ok {
		return nil, false
	}
	return ahp.MustMarshal(snap.State), true
}

// Done keeps the result, so it can be called repeatedly.
func (c *goClient) Done() (bool, error) {
	if !c.ended {
		select {
		case c.err = <-c.done:
			c.ended = true
		default:
		}
	}
	return c.ended, c.err
}

func (c *goClient) Do(ctx context.Context, what string) error {
	word, args, _ := strings.Cut(what, " ")
	do, ok := verbs[word]
	if !ok {
		return fmt.Errorf("this client cannot %q", what)
	}
	done := make(chan error, 1)
	c.done, c.ended, c.err = done, false, nil
	go func() { done <- do(ctx, c, args) }()
	return nil
}

// connect connects with the client id and the subscriptions in args.
func (c *goClient) connect(ctx context.Context, args string, opts client.Options) error {
	words := strings.Fields(args)
	opts.ClientID, opts.Subscriptions, opts.Token, opts.NetDial = words[0], words[1:], clientToken, c.dial
	made, err := client.Dial(ctx, "ws://"+clientAddress+"/ahp", opts)
	if err == nil {
		c.client = made
	}
	return err
}

// verbs are the commands of "client" lines.
var verbs = map[string]func(context.Context, *goClient, string) error{
	"connect": func(ctx context.Context, c *goClient, args string) error {
		return c.connect(ctx, args, client.Options{})
	},
	"connect-moving": func(ctx context.Context, c *goClient, args string) error {
		return c.connect(ctx, args, client.Options{Backoff: client.NewBackoff()})
	},
	"reconnect": func(ctx context.Context, c *goClient, _ string) error { return c.client.Reconnect(ctx) },
	"unsubscribe": func(_ context.Context, c *goClient, uri string) error {
		c.client.Unsubscribe(uri)
		return nil
	},
	"subscribe": func(ctx context.Context, c *goClient, uri string) error {
		_, err := c.client.Subscribe(ctx, uri)
		return err
	},
	"dispatch": func(ctx context.Context, c *goClient, args string) error {
		uri, raw, _ := strings.Cut(args, " ")
		read, err := canvas.ChannelKindOf(uri).Actions.Decode(ahp.Value(raw))
		if err != nil {
			return err
		}
		return c.client.Dispatch(ctx, uri, read.Action)
	},
	"call": func(ctx context.Context, c *goClient, args string) error {
		method, params, _ := strings.Cut(args, " ")
		m := ahp.NewMethod[json.RawMessage, json.RawMessage](method, ahp.ClientToHost)
		m.Safe = slices.ContainsFunc(slices.Concat(ahp.Methods, session.Methods, canvas.Methods), func(r ahp.MethodRow) bool { return r.Name == method && r.Safe })
		_, err := client.Call(ctx, c.client, m, json.RawMessage(params))
		return err
	},
	"provide": func(ctx context.Context, c *goClient, args string) error {
		uri, raw, _ := strings.Cut(args, " ")
		var set []canvas.Declaration
		if err := ahp.Unmarshal(ahp.Value(raw), &set); err != nil {
			return err
		}
		return c.client.Provide(ctx, uri, "Desk", canvas.Func(openEditor), set...)
	},
}

// openEditor opens canvases for the client-side transcripts (README.md).
func openEditor(_ context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
	if req.InstanceID == "bad" {
		return canvas.Opened{}, canvas.Errorf("no_such_file", "there is no such file")
	}
	return canvas.Opened{Title: "Editor", Status: "saved", URL: "https://example.com/" + req.InstanceID, Instance: editor{}}, nil
}

type editor struct{}

func (editor) Invoke(_ context.Context, action string, input ahp.Value) (ahp.Value, error) {
	if action == "fail" {
		return nil, canvas.Errorf("disk_full", "the disk is full")
	}
	return input, nil
}

func (editor) Close(context.Context) error { return nil }

func (editor) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if req.Path.Name() != "a.txt" {
		return canvas.Content{}, ahp.ErrNotFound
	}
	return canvas.Content{Data: []byte("text"), ContentType: "text/plain; charset=utf-8"}, nil
}

// hostConn is the host's end of a connection.
type hostConn struct {
	socket *ws.Conn
	wire   *ahptest.Conn
	frames chan []byte
}

func (h *hostConn) read() {
	defer close(h.frames)
	for {
		msg, err := h.socket.ReadMessage()
		if err != nil {
			return
		}
		h.frames <- msg
	}
}

func (h *hostConn) Send(frame []byte) error { return h.socket.WriteBatch([][]byte{frame}) }

func (h *hostConn) Next() ([]byte, error) {
	synctest.Wait()
	select {
	case frame, ok := <-h.frames:
		if ok {
			return frame, nil
		}
		return nil, &testcases.Closed{Code: int(ws.CodeOf(h.socket.Err()))}
	default:
		return nil, testcases.ErrSilent
	}
}

func (h *hostConn) Close(cut bool) error {
	if cut {
		h.wire.CutAfter(0)
		_, _ = h.wire.Write([]byte{0})
	}
	h.socket.Close(ws.CodeGoingAway, "")
	h.socket.Wait()
	return nil
}
