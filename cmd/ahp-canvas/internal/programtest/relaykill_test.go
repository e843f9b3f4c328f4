package programtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// relayed is a host in this process, a relay in a separate process, and clients that
// connect through it. Requests through the relay are counted where they are done.
type relayed struct {
	m         *machine
	relayArgs []string
	relay     *program
	key       relaykey.Key
	seal      seal.Key
	host      *host.Host
	uplinks   chan relay.Progress
	dialer    func(ctx context.Context, network, addr string) (net.Conn, error) // nil is the usual one
	at        string                                                            // the relay's URL
	clients   []*client.Client
	witness   *client.Client // is connected to the host directly

	// Requests of the host to clients, and of clients to the host.
	invokes, opens, messages, reads, titles, sessions *tally
}

const relayedClients = 6

func newRelayed(t *testing.T) *relayed {
	a := makeRelayed(newMachine(t))
	tokens := filepath.Join(t.TempDir(), "tokens.json")
	made := a.m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop", "--lanes", "64")
	if err := json.Unmarshal([]byte(made), &a.key); err != nil {
		t.Fatal(err)
	}
	a.relayArgs = []string{"relay", "--listen", "127.0.0.1:" + freePort(t), "--tokens", tokens}
	a.relay = a.m.start(a.relayArgs...)
	a.at = strings.TrimSpace(a.relay.line)
	a.connect(t)
	return a
}

func makeRelayed(m *machine) *relayed {
	return &relayed{
		m: m, seal: seal.NewKey(), uplinks: make(chan relay.Progress, 10_000),
		invokes: newTally("invoke"), opens: newTally("open"), messages: newTally("message"),
		reads: newReads(), titles: newTally("title"), sessions: newTally("session"),
	}
}

// connect starts the host, and connects the clients.
func (a *relayed) connect(t *testing.T) {
	a.serve(t)
	a.watch(t)
	for n := range relayedClients {
		a.clients = append(a.clients, a.dial(t, n))
	}
}

// serve runs the host with its uplink until the test ends.
func (a *relayed) serve(t *testing.T) {
	var err error
	if a.host, err = host.New(host.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.host.Canvases().Register(canvas.Extension{ID: "tally"}, canvas.Func(a.openHere), canvas.Declaration{CanvasID: "tally", DisplayName: "Tally"}); err != nil {
		t.Fatal(err)
	}
	sealing := seal.NewHost(a.seal, a.key.Host, false)
	up, err := relay.NewUplink(relay.UplinkOptions{
		URL: a.at, Token: a.key.HostToken, Host: a.key.Host, NetDial: a.dialer,
		Serve: func(ctx context.Context, socket *ws.Conn, lane relay.LaneInfo) {
			if sealing.Accept(ctx, socket, lane.Subject) != nil {
				return // the client reconnects
			}
			// The clients of this test create sessions and provide canvases.
			a.host.ServeLane(socket, ws.Grant{Role: host.RoleAgent, ClientID: lane.ClientID}, lane.OnDrain)
		},
		Progress: func(p relay.Progress) { a.uplinks <- p },
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.host.SetAddr(ln.Addr()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := a.host.Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() { _ = up.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	a.registered()
	args := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "tally", InstanceID: "tally"}
	if _, err := a.host.Canvases().Open(t.Context(), args); err != nil {
		t.Fatal(err)
	}
}

func (a *relayed) registered() {
	for p := range a.uplinks {
		if p.State == relay.Registered {
			return
		}
	}
}

// openHere opens the host's own canvas, which counts messages and reads.
func (a *relayed) openHere(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	app := &canvas.App{OnMessage: func(_ context.Context, _ canvas.View, payload ahp.Value) {
		var id string
		_ = json.Unmarshal(payload, &id)
		a.messages.count(id)
	}}
	return canvas.Opened{Instance: reading{app, a.reads}, URL: h.ContentURL("/")}, nil
}

// reading serves every path, and counts the requests.
type reading struct {
	*canvas.App
	count *tally
}

func (r reading) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	r.count.count(req.Path.Name())
	return canvas.Content{Data: []byte("read"), ContentType: "text/plain"}, nil
}

// dial connects a client through the relay. It provides a canvas that counts its opens and
// invocations.
func (a *relayed) dial(t *testing.T, n int) *client.Client {
	provider := canvas.Func(func(_ context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
		if req.Current == nil && strings.HasPrefix(req.InstanceID, a.opens.what) {
			a.opens.count(req.InstanceID)
		}
		return canvas.Opened{Instance: &canvas.App{Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){
			"count": func(_ context.Context, input ahp.Value) (ahp.Value, error) {
				var said struct{ ID string }
				err := json.Unmarshal(input, &said)
				a.invokes.count(said.ID)
				return input, err
			},
		}}}, nil
	})
	c, err := client.Dial(t.Context(), a.at+"ahp/laptop", client.Options{
		NetDial: a.dialer, ClientID: fmt.Sprint("relayed-", n), Token: a.key.ClientToken, Seal: &seal.Identity{Host: a.key.Host, Key: a.seal.Public()}, Backoff: client.NewBackoff(), Subscriptions: []string{host.DefaultSession},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	counting := canvas.Declaration{CanvasID: "counting", DisplayName: "Counting", Actions: []canvas.Action{{Name: "count", Description: "Counts."}}}
	if err := c.Provide(t.Context(), host.DefaultSession, "Counting", provider, counting); err != nil {
		t.Fatal(err)
	}
	if err := a.open(t.Context(), n, fmt.Sprint("base-", n)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Subscribe(t.Context(), a.channel(t, "tally")); err != nil {
		t.Fatal(err)
	}
	return c
}

func (a *relayed) open(ctx context.Context, n int, instance string) error {
	_, err := a.host.Canvases().Open(ctx, canvas.OpenArgs{
		Session: host.DefaultSession, ExtensionID: fmt.Sprint("client:relayed-", n), CanvasID: "counting", InstanceID: instance,
	})
	return err
}

func (a *relayed) channel(t *testing.T, instance string) string {
	open, err := a.host.Canvases().ListOpen(host.DefaultSession)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range open {
		if o.InstanceID == instance {
			return o.Channel
		}
	}
	t.Fatalf("%s is not open", instance)
	return ""
}

// watch counts what clients dispatch and create, with a client that is connected directly.
func (a *relayed) watch(t *testing.T) {
	view, _ := a.host.Tokens()
	var err error
	a.witness, err = client.Dial(t.Context(), a.host.Endpoints().AHP, client.Options{Token: view, Subscriptions: []string{ahp.RootURI, host.DefaultSession}})
	if err != nil {
		t.Fatal(err)
	}
	w := a.witness.Watch()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			ev, err := w.Next(context.Background())
			if err != nil {
				return
			}
			if title, ok := ev.Action.(session.TitleChanged); ok {
				a.titles.count(title.Title)
			}
			if ev.Kind == client.EventNotice && ev.Type == "root/sessionAdded" {
				var said struct {
					Summary struct{ Resource string }
				}
				_ = json.Unmarshal(ev.Raw, &said)
				a.sessions.count(strings.TrimPrefix(said.Summary.Resource, "ahp-session:/"))
			}
		}
	})
	t.Cleanup(func() { a.witness.Close(); wg.Wait() })
}
