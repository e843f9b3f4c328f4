package sides

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/creachadair/jrpc2"
	"github.com/gorilla/websocket"
	mcpjson "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/sourcegraph/jsonrpc2"
	stock "github.com/sourcegraph/jsonrpc2/websocket"
	xexp "golang.org/x/exp/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// peerLibrary is ahp/peer on ahp/ws, with the limits of a host.
var peerLibrary = library{
	host: func(w http.ResponseWriter, r *http.Request) (caller, error) {
		c, err := ws.Upgrade(w, r, ws.Options{ReadLimit: ws.MessageReadLimit})
		if err != nil {
			return nil, err
		}
		p := peer.New(c, peer.HandlerFunc(func(_ context.Context, req *peer.Request) { req.Fail(errNotFound) }), peer.Options{})
		p.Start()
		return func(ctx context.Context, _ bool) error {
			_, err := p.Call(ctx, callMethod, callParams)
			return err
		}, nil
	},
	client: func(url string) error {
		c, err := ws.Dial(context.Background(), url, ws.DialOptions{})
		if err != nil {
			return err
		}
		p := peer.New(c, peer.HandlerFunc(func(_ context.Context, req *peer.Request) { req.Reply(callResult) }), peer.Options{HandleOnReader: true})
		p.Start()
		p.Wait()
		return p.Err()
	},
}

// stockLibrary is sourcegraph/jsonrpc2 with its own WebSocket stream.
var stockLibrary = library{
	host: func(w http.ResponseWriter, r *http.Request) (caller, error) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return nil, err
		}
		conn := jsonrpc2.NewConn(context.Background(), stock.NewObjectStream(c), nil)
		return func(ctx context.Context, _ bool) error {
			var result json.RawMessage
			return conn.Call(ctx, callMethod, json.RawMessage(callParams), &result)
		}, nil
	},
	client: func(url string) error {
		c, _, err := websocket.DefaultDialer.Dial(url, nil)
		if err != nil {
			return err
		}
		answer := jsonrpc2.HandlerWithError(func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) {
			return json.RawMessage(callResult), nil
		})
		<-jsonrpc2.NewConn(context.Background(), stock.NewObjectStream(c), answer).DisconnectNotify()
		return nil
	},
}

// messageSocket is a WebSocket with the methods that the other libraries need
// of a connection. One goroutine reads and one writes.
type messageSocket struct{ *websocket.Conn }

func (m messageSocket) Send(b []byte) error { return m.WriteMessage(websocket.TextMessage, b) }

func (m messageSocket) Recv() ([]byte, error) {
	_, b, err := m.ReadMessage()
	return b, err
}

func upgrade(w http.ResponseWriter, r *http.Request) (messageSocket, error) {
	c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	return messageSocket{c}, err
}

func dialSocket(url string) (messageSocket, error) {
	c, _, err := websocket.DefaultDialer.Dial(url, nil)
	return messageSocket{c}, err
}

// xexpLibrary is golang.org/x/exp/jsonrpc2 with one message per frame.
var xexpLibrary = library{
	host: func(w http.ResponseWriter, r *http.Request) (caller, error) {
		m, err := upgrade(w, r)
		if err != nil {
			return nil, err
		}
		conn, err := xexp.Dial(context.Background(), xexpSocket{m}, xexp.ConnectionOptions{Framer: xexpSocket{m}})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ bool) error {
			var result json.RawMessage
			return conn.Call(ctx, callMethod, json.RawMessage(callParams)).Await(ctx, &result)
		}, nil
	},
	client: func(url string) error {
		m, err := dialSocket(url)
		if err != nil {
			return err
		}
		answer := xexp.HandlerFunc(func(context.Context, *xexp.Request) (any, error) { return json.RawMessage(callResult), nil })
		conn, err := xexp.Dial(context.Background(), xexpSocket{m}, xexp.ConnectionOptions{Framer: xexpSocket{m}, Handler: answer})
		if err != nil {
			return err
		}
		return conn.Wait()
	},
}

// xexpSocket is a dialer, a stream and a framer in one. The stream is never
// read or written as bytes.
type xexpSocket struct{ messageSocket }

func (x xexpSocket) Dial(context.Context) (io.ReadWriteCloser, error) { return x, nil }
func (x xexpSocket) Reader(io.Reader) xexp.Reader                     { return xexpReader(x) }
func (x xexpSocket) Writer(io.Writer) xexp.Writer                     { return xexpWriter(x) }
func (xexpSocket) Read([]byte) (int, error)                           { return 0, errors.ErrUnsupported }
func (xexpSocket) Write([]byte) (int, error)                          { return 0, errors.ErrUnsupported }

type (
	xexpReader xexpSocket
	xexpWriter xexpSocket
)

func (x xexpReader) Read(context.Context) (xexp.Message, int64, error) {
	b, err := x.Recv()
	if err != nil {
		return nil, 0, err
	}
	m, err := xexp.DecodeMessage(b)
	return m, int64(len(b)), err
}

func (x xexpWriter) Write(_ context.Context, m xexp.Message) (int64, error) {
	b, err := xexp.EncodeMessage(m)
	if err != nil {
		return 0, err
	}
	return int64(len(b)), x.Send(b)
}

// jrpc2Library is creachadair/jrpc2, where the host makes callbacks.
var jrpc2Library = library{
	host: func(w http.ResponseWriter, r *http.Request) (caller, error) {
		m, err := upgrade(w, r)
		if err != nil {
			return nil, err
		}
		srv := jrpc2.NewServer(noMethods{}, &jrpc2.ServerOptions{AllowPush: true}).Start(m)
		return func(ctx context.Context, _ bool) error {
			_, err := srv.Callback(ctx, callMethod, json.RawMessage(callParams))
			return err
		}, nil
	},
	client: func(url string) error {
		m, err := dialSocket(url)
		if err != nil {
			return err
		}
		ended := make(chan error, 1)
		jrpc2.NewClient(m, &jrpc2.ClientOptions{
			OnCallback: func(context.Context, *jrpc2.Request) (any, error) { return json.RawMessage(callResult), nil },
			OnStop:     func(_ *jrpc2.Client, err error) { ended <- err },
		})
		return <-ended
	},
}

type noMethods struct{}

func (noMethods) Assign(context.Context, string) jrpc2.Handler { return nil }

// mcpLibrary is the MCP SDK. The caller is the SDK's client and the other end
// has the tool, because the SDK makes calls in that direction.
var mcpLibrary = library{
	host: func(w http.ResponseWriter, r *http.Request) (caller, error) {
		m, err := upgrade(w, r)
		if err != nil {
			return nil, err
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "caller"}, nil).Connect(context.Background(), mcpSocket{m}, nil)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ bool) error {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: callMethod, Arguments: json.RawMessage(callParams)})
			return err
		}, nil
	},
	client: func(url string) error {
		m, err := dialSocket(url)
		if err != nil {
			return err
		}
		srv := mcp.NewServer(&mcp.Implementation{Name: "answerer"}, nil)
		tool := &mcp.Tool{Name: callMethod, InputSchema: json.RawMessage(`{"type":"object"}`)}
		srv.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(callResult)}}}, nil
		})
		return srv.Run(context.Background(), mcpSocket{m})
	},
}

// mcpSocket is the SDK's transport and connection over a WebSocket.
type mcpSocket struct{ messageSocket }

func (m mcpSocket) Connect(context.Context) (mcp.Connection, error) {
	return &mcpConn{messageSocket: m.messageSocket, writing: make(chan struct{}, 1)}, nil
}

type mcpConn struct {
	messageSocket
	writing chan struct{}
}

func (c *mcpConn) Read(context.Context) (mcpjson.Message, error) {
	b, err := c.Recv()
	if err != nil {
		return nil, err
	}
	return mcpjson.DecodeMessage(b)
}

func (c *mcpConn) Write(_ context.Context, m mcpjson.Message) error {
	b, err := mcpjson.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	return c.Send(b)
}

func (*mcpConn) SessionID() string { return "" }
