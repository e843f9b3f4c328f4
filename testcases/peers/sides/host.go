package sides

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// StoreDir is the variable that names the folder of a host's store.
const StoreDir = "AHP_PEERS_DIR"

// ours is our host as a side: the very host of `serve`, without its flags.
type ours struct {
	host  *host.Host
	dir   string
	store channels.Store
	apps  []*loopback.Provider
	opens int // names of instances
}

func hostSide(durable bool) (*proc.Side, error) {
	o, err := newOurs(durable)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.host.Serve(ctx) }()
	view, _ := o.host.Tokens()
	return &proc.Side{
		Hello: proc.Answer{Addr: o.host.Endpoints().AHP, Token: view, Channel: host.DefaultSession},
		Do: map[string]func(proc.Ask) (proc.Answer, error){
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

// newOurs makes a host with a canvas, durable with its store in a file.
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

// close lets go what the host had, once it has served.
func (o *ours) close() error {
	for _, a := range o.apps {
		a.Close()
	}
	if o.store == nil {
		return nil
	}
	return o.store.Close()
}

// publish appends N titles to the default session, a transaction each, and
// answers with the last serverSeq.
func (o *ours) publish(ask proc.Ask) (proc.Answer, error) {
	var seq int64
	begun := time.Now()
	for range ask.N {
		err := o.host.Log().Update(func(tx *channels.Tx) error {
			err := tx.Append(host.DefaultSession, session.TitleChanged{Title: Title})
			seq = tx.Seq()
			return err
		})
		if err != nil {
			return proc.Answer{}, err
		}
	}
	return proc.Answer{N: seq, Took: time.Since(begun)}, nil
}

// pace appends N titles of Size bytes at a Rate, whatever became of those
// before. A title begins with the time at which it was published.
func (o *ours) pace(ask proc.Ask) (proc.Answer, error) {
	tick := time.NewTicker(time.Second / time.Duration(ask.Rate))
	defer tick.Stop()
	pad := fmt.Sprintf("%*s", ask.Size, "")
	for range ask.N {
		<-tick.C
		err := o.host.Log().Update(func(tx *channels.Tx) error {
			return tx.Append(host.DefaultSession, session.TitleChanged{Title: fmt.Sprintf("%d %s", time.Now().UnixNano(), pad)})
		})
		if err != nil {
			return proc.Answer{}, err
		}
	}
	return proc.Answer{}, nil
}

func (o *ours) connections(proc.Ask) (proc.Answer, error) {
	return proc.Answer{N: int64(o.host.Connections())}, nil
}

// sessions makes sessions until there are N beside the default one. The service
// has at most 1,024; those above are channels of the log alone.
func (o *ours) sessions(ask proc.Ask) (proc.Answer, error) {
	for i := range min(ask.N, 1000) {
		if err := o.host.Sessions().Ensure(SessionURI(i), "Session"); err != nil {
			return proc.Answer{}, err
		}
	}
	err := o.host.Log().Update(func(tx *channels.Tx) error {
		like, _ := tx.State(host.DefaultSession)
		for i := 1000; i < ask.N; i++ {
			if err := tx.Create(SessionURI(i), "", like); err != nil && !errors.Is(err, channels.ErrExists) {
				return err
			}
		}
		return nil
	})
	return proc.Answer{}, err
}

// SessionURI names the sessions that "sessions" makes.
func SessionURI(i int) string { return fmt.Sprintf("ahp-session:/s%d", i) }

// open opens N canvases in the default session, and answers with the channel of
// the last one.
func (o *ours) open(ask proc.Ask) (a proc.Answer, err error) {
	for range ask.N {
		o.opens++
		open, err := o.host.Canvases().Open(context.Background(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "pages", InstanceID: fmt.Sprint("i", o.opens)})
		if err != nil {
			return a, err
		}
		a.Channel, a.Addr = open.Channel, open.URL
	}
	return a, nil
}

// app makes the web app at Addr a canvas, and opens it.
func (o *ours) app(ask proc.Ask) (proc.Answer, error) {
	p, err := loopback.New("app", ask.Addr, loopback.Options{})
	if err != nil {
		return proc.Answer{}, err
	}
	o.apps = append(o.apps, p)
	reg, err := o.host.Canvases().Register(canvas.Extension{ID: "app"}, p, p.Declaration())
	if err != nil {
		return proc.Answer{}, err
	}
	p.Watch(reg)
	open, err := o.host.Canvases().Open(context.Background(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "app", InstanceID: "app"})
	return proc.Answer{Channel: open.Channel}, err
}

// Dial connects to a host and initializes with subscriptions. The socket is bare
// from then on: nothing has been read behind the answer.
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

// Trip sends a message and returns the next one.
func Trip(c *ws.Conn, msg string) ([]byte, error) {
	if err := c.WriteBatch([][]byte{[]byte(msg)}); err != nil {
		return nil, err
	}
	return c.ReadMessage()
}
