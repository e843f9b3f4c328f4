package sides

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// StoreDir is the environment variable with the folder of a host's store.
const StoreDir = "AHP_PEERS_DIR"

// ours is this project's host as a side, configured as `serve` does.
type ours struct {
	host  *host.Host
	dir   string
	store channels.Store
	apps  []*loopback.Provider
	opens int // the number of instances opened so far, for their ids
}

func hostSide(durable bool) (*proc.Side, error) {
	o, err := newOurs(durable)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, o.host.Close(), o.close())
	}
	if err := o.host.SetAddr(ln.Addr()); err != nil {
		return nil, errors.Join(err, ln.Close(), o.host.Close(), o.close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.host.Serve(ctx, ln) }()
	_, agent := o.host.Tokens()
	return &proc.Side{
		Hello: proc.Response{Addr: o.host.Endpoints().AHP, Token: agent, Channel: host.DefaultSession},
		Do: map[string]func(proc.Request) (proc.Response, error){
			"publish":     o.publish,
			"pace":        o.pace,
			"connections": o.connections,
			"sessions":    o.sessions,
			"open":        o.open,
			"durable":     o.durable,
			"peak":        o.peak,
			"app":         o.app,
		},
		Close: func() {
			cancel()
			if err := errors.Join(<-done, o.close()); err != nil {
				fmt.Fprintln(os.Stderr, "host:", err)
			}
		},
	}, nil
}

// newOurs makes a host with a canvas. A durable one has its store in a file.
func newOurs(durable bool) (o *ours, err error) {
	o = &ours{dir: os.Getenv(StoreDir)}
	opts := host.Options{Server: server.Options{MaxClients: 1 << 20}}
	if durable {
		o.store, err = sqlitestore.Open(context.Background(), filepath.Join(o.dir, sqlitestore.FileName), sqlitestore.Options{})
		if err != nil {
			return nil, err
		}
		opts.Store = o.store
	}
	if o.host, err = host.New(opts); err != nil {
		return nil, err
	}
	_, err = o.host.Canvases().Register(canvas.Extension{ID: "peers"}, pages{}, canvas.Declaration{CanvasID: "pages", DisplayName: "Pages"})
	return o, err
}

// close releases the host's resources. Call it after Serve has returned.
func (o *ours) close() error {
	for _, a := range o.apps {
		a.Close()
	}
	if o.store == nil {
		return nil
	}
	return o.store.Close()
}

// publish appends N titles to the default session, each in its own transaction,
// and returns the last serverSeq.
func (o *ours) publish(req proc.Request) (proc.Response, error) {
	var seq int64
	begun := time.Now()
	for range req.N {
		err := hosttest.Log(o.host).Update(func(tx *channels.Tx) error {
			err := tx.Append(host.DefaultSession, session.TitleChanged{Title: Title})
			seq = tx.Seq()
			return err
		})
		if err != nil {
			return proc.Response{}, err
		}
	}
	return proc.Response{N: seq, Took: time.Since(begun)}, nil
}

// pace appends N titles of Size bytes at a Rate, without waiting for their
// delivery. A title begins with the time at which it was published.
func (o *ours) pace(req proc.Request) (proc.Response, error) {
	tick := time.NewTicker(time.Second / time.Duration(req.Rate))
	defer tick.Stop()
	pad := fmt.Sprintf("%*s", req.Size, "")
	for range req.N {
		<-tick.C
		err := hosttest.Log(o.host).Update(func(tx *channels.Tx) error {
			return tx.Append(host.DefaultSession, session.TitleChanged{Title: fmt.Sprintf("%d %s", time.Now().UnixNano(), pad)})
		})
		if err != nil {
			return proc.Response{}, err
		}
	}
	return proc.Response{}, nil
}

func (o *ours) connections(proc.Request) (proc.Response, error) {
	return proc.Response{N: int64(o.host.Load().Connections)}, nil
}

// sessions creates sessions until there are N in addition to the default one.
// The session service allows at most 1,024; the others exist only as channels
// in the log.
func (o *ours) sessions(req proc.Request) (proc.Response, error) {
	for i := range min(req.N, 1000) {
		if err := o.host.EnsureSession(SessionURI(i), "Session"); err != nil {
			return proc.Response{}, err
		}
	}
	err := hosttest.Log(o.host).Update(func(tx *channels.Tx) error {
		like, _ := tx.State(host.DefaultSession)
		for i := 1000; i < req.N; i++ {
			if err := tx.Create(SessionURI(i), "", like); err != nil && !errors.Is(err, channels.ErrExists) {
				return err
			}
		}
		return nil
	})
	return proc.Response{}, err
}

// SessionURI returns the URI of a session that "sessions" creates.
func SessionURI(i int) string { return fmt.Sprintf("ahp-session:/s%d", i) }

// open opens N canvases in the default session, and returns the channel of the
// last one.
func (o *ours) open(req proc.Request) (a proc.Response, err error) {
	for range req.N {
		o.opens++
		open, err := o.host.Canvases().Open(context.Background(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "pages", InstanceID: fmt.Sprint("i", o.opens)})
		if err != nil {
			return a, err
		}
		a.Channel, a.Addr = open.Channel, open.URL
	}
	return a, nil
}

// app registers the web app at Addr as a canvas, and opens it.
func (o *ours) app(req proc.Request) (proc.Response, error) {
	p, err := loopback.New("app", req.Addr, loopback.Options{})
	if err != nil {
		return proc.Response{}, err
	}
	o.apps = append(o.apps, p)
	reg, err := o.host.Canvases().Register(canvas.Extension{ID: "app"}, p, p.Declarations()...)
	if err != nil {
		return proc.Response{}, err
	}
	p.Watch(reg)
	open, err := o.host.Canvases().Open(context.Background(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "app", InstanceID: "app"})
	return proc.Response{Channel: open.Channel}, err
}

// Dial connects to a host and initializes with subscriptions. It reads nothing
// after the response, so the caller can read the socket directly.
func Dial(ctx context.Context, url, token, clientID string, opts ws.DialOptions, subscriptions ...string) (*ws.Conn, ahp.InitializeResult, error) {
	opts.Token = token
	var result struct {
		Result ahp.InitializeResult `json:"result"`
	}
	c, err := ws.Dial(ctx, url, opts)
	if err != nil {
		return nil, result.Result, err
	}
	params := ahp.MustMarshal(map[string]any{"clientId": clientID, "protocolVersions": []string{"0.6.0"}, "capabilities": map[string]any{"canvas": map[string]any{}}, "initialSubscriptions": subscriptions})
	msg, err := Trip(c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+string(params)+`}`)
	if err == nil {
		err = ahp.Unmarshal(msg, &result)
	}
	if err != nil {
		c.Close(ws.CodeNormal, "")
		return nil, result.Result, err
	}
	return c, result.Result, nil
}

// Trip sends a message and returns the next one received.
func Trip(c *ws.Conn, msg string) ([]byte, error) {
	if err := c.WriteBatch([][]byte{[]byte(msg)}); err != nil {
		return nil, err
	}
	return c.ReadMessage()
}
