package host_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

type object = map[string]any

// modelInstance is the model's state of an instance id.
type modelInstance struct {
	id       string
	open     bool
	ready    bool
	owner    *provider
	canvasID string
	input    string
	life     int  // how often it was closed
	causes   int  // of canvasOpen: the limit of its requests
	dropped  int  // answers to canvasOpen that were too late; guarded by the run's mutex
	ops      int  // active calls of the agent; guarded by the run's mutex
	closing  bool // guarded by the run's mutex
}

// modelRun is a host with its model.
type modelRun struct {
	t       *testing.T
	net     *ahptest.Net
	ends    ends
	host    *host.Host
	store   *channels.Memory
	lives   int // runs of the host
	end     context.CancelFunc
	done    chan error
	watcher *client.Client
	wire    net.Conn // the watcher's
	conns   []*wireConn
	clients []*provider

	mu        sync.Mutex
	instances map[string]*modelInstance
	calls     map[countedCall]int
	events    []answered
	expected  []func() error // checks after the last step
}

// ends is a listener that records the host's ends of connections, so that a test can cut
// them.
type ends struct {
	net.Listener
	accepted sync.Map // *ahptest.Conn by remote address
}

func (e *ends) Accept() (net.Conn, error) {
	conn, err := e.Listener.Accept()
	if err == nil {
		e.accepted.Store(conn.RemoteAddr(), conn)
	}
	return conn, err
}

// of returns the host's end of a client's connection.
func (e *ends) of(conn net.Conn) *ahptest.Conn {
	there, _ := e.accepted.Load(conn.LocalAddr())
	return there.(*ahptest.Conn)
}

func newModelRun(t *testing.T) *modelRun {
	r := &modelRun{t: t, net: &ahptest.Net{}, store: channels.NewMemory(), lives: 1, instances: map[string]*modelInstance{}, calls: map[countedCall]int{}}
	r.start()
	for i := range 3 {
		r.clients = append(r.clients, &provider{run: r, id: fmt.Sprint("c", i), capable: i < 2})
	}
	var err error
	r.watcher, err = client.Dial(context.Background(), "ws://"+address+"/ahp", client.Options{
		ClientID: "watcher", Token: viewToken, NetDial: r.dial, Subscriptions: []string{host.DefaultSession},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// start starts a host on the store.
func (r *modelRun) start() {
	ln, err := r.net.Listen(address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.ends.Listener = ln
	if r.host, err = host.New(host.Options{ViewToken: viewToken, AgentToken: agentToken, Store: r.store}); err != nil {
		r.t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	r.end, r.done = end, make(chan error, 1)
	go func(h *host.Host, done chan error) { done <- h.Serve(ctx, &r.ends) }(r.host, r.done)
}

// restart restarts the host as after a crash: from one moment on, its store discards
// commits. Unanswered calls fail, and every client has a new grace period.
func (r *modelRun) restart() {
	r.mu.Lock()
	for _, i := range r.instances {
		if i.closing { // the provider can receive the close before or after the crash
			r.mu.Unlock()
			return
		}
	}
	r.mu.Unlock()
	time.Sleep(50 * time.Millisecond) // by now the active clients are stored
	synctest.Wait()
	r.applyEvents()
	r.store.Close()
	for _, c := range r.clients {
		for len(c.conns) > 0 {
			r.cut(c, 0)
		}
		c.lostAt = time.Now()
	}
	_ = r.wire.Close()
	r.end()
	<-r.done // it reports commits that failed
	synctest.Wait()
	var err error
	if r.store, err = r.store.Reopen(); err != nil {
		r.t.Fatal(err)
	}
	r.lives++
	r.start()
	for _, c := range r.clients {
		c.lostAt = time.Now()
	}
	if err := r.watcher.Reconnect(context.Background()); err != nil {
		r.expected = append(r.expected, func() error { return err })
	}
}

func (r *modelRun) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := r.net.Dial(ctx, network, addr)
	r.wire = conn
	return conn, err
}

func (r *modelRun) stop() error {
	r.watcher.Close()
	for _, c := range r.conns {
		c.cut()
	}
	r.end()
	return <-r.done
}

func (r *modelRun) instance(id string) *modelInstance {
	if r.instances[id] == nil {
		r.instances[id] = &modelInstance{id: id}
	}
	return r.instances[id]
}

func (r *modelRun) declare(c *provider, n int) {
	at := slices.IndexFunc(c.conns, func(conn *wireConn) bool { return conn.subscribed })
	if at < 0 {
		return
	}
	var list []object
	for _, id := range sets[n] {
		list = append(list, object{"canvasId": id, "displayName": id, "description": "", "actions": []object{{"name": "act"}}})
	}
	if n != len(sets)-1 {
		r.mu.Lock()
		c.active, c.declares, c.declared = true, sets[n], c.declared+1
		if len(list) == 0 {
			r.lose(c, func(*modelInstance) bool { return true })
		}
		for _, i := range r.instances {
			if i.owner == c && !slices.Contains(c.declares, i.canvasID) {
				i.ready = false
			}
		}
		r.causeRevival(c) // a client that declares again is asked to open its stale instances
		r.mu.Unlock()
	}
	c.seq++
	who := object{"clientId": c.id, "displayName": c.id, "tools": []any{}}
	if list != nil {
		who["canvasProviders"] = list
	}
	c.conns[at].dispatch(host.DefaultSession, c.seq, object{"type": "session/activeClientSet", "activeClient": who})
}

func (r *modelRun) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	r.graceOver()
}

func (r *modelRun) graceOver() {
	for _, c := range r.clients {
		if c.active && len(c.conns) == 0 && time.Since(c.lostAt) >= 30*time.Second {
			r.leaves(c)
		}
	}
}

// agent runs an operation of the agent on an instance concurrently, and checks its
// outcome with want, if the outcome is determined.
func (r *modelRun) agent(i *modelInstance, want func(done bool, err error) error, op func(context.Context) error) {
	i.ops++
	done, result := false, error(nil)
	go func() {
		err := op(context.Background())
		r.mu.Lock()
		defer r.mu.Unlock()
		i.ops--
		done, result = true, err
		if _, ours := errors.AsType[*canvas.Error](err); err != nil && !ours {
			r.t.Errorf("an error without a code: %v", err)
		}
	}()
	if want != nil {
		r.expected = append(r.expected, func() error { return want(done, result) })
	}
}

func succeeds(what string) func(bool, error) error {
	return func(done bool, err error) error {
		if !done || err != nil {
			return fmt.Errorf("%s: done %v, error %v", what, done, err)
		}
		return nil
	}
}

func fails(what string) func(bool, error) error {
	return func(done bool, err error) error {
		if !done || err == nil {
			return fmt.Errorf("%s: done %v and no error", what, done)
		}
		return nil
	}
}

func (r *modelRun) open(c *provider, id, canvasID, input string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.instance(id)
	if i.closing {
		return
	}
	i.causes++
	var want func(bool, error) error
	switch idle := i.ops == 0; {
	case !c.reachable(canvasID):
		if idle && !i.open {
			want = fails("opening a canvas without a reachable provider")
		}
	case idle && i.ready && i.owner == c && i.input == input:
		want = succeeds("opening what is open")
	case idle && !i.open && c.mode == promptly:
		want = succeeds("opening")
	}
	args := canvas.OpenArgs{Session: host.DefaultSession, ExtensionID: c.extension(), CanvasID: canvasID, InstanceID: id}
	if input != "" {
		args.Input = ahp.Value(input)
	}
	r.agent(i, want, func(ctx context.Context) error { _, err := r.host.Canvases().Open(ctx, args); return err })
}

func (r *modelRun) invoke(id, input string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.instance(id)
	if i.closing {
		return
	}
	var want func(bool, error) error
	switch idle := i.ops == 0; {
	case idle && i.ready && i.owner.mode == promptly:
		want = succeeds("invoking")
	case idle && (!i.open || len(i.owner.conns) == 0):
		want = fails("invoking what is not there")
	}
	args := canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: id, ActionName: "act", Input: ahp.Value(input)}
	r.agent(i, want, func(ctx context.Context) error { _, err := r.host.Canvases().Invoke(ctx, args); return err })
}
