package client_test

import (
	"cmp"
	"context"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// fake is a host that sends what a test wants, including what no real host sends.
type fake struct {
	silent bool // answers nothing
	// answer returns the result of a request, or an error; nil leaves it to fake.
	answer func(method string, params ahp.Value) any
	// after holds the params of actions that directly follow the result of a
	// handshake.
	after []string
	// before runs before a handshake is answered.
	before func(p *peer.Peer)
	state  string // of sessionA; "" is fakeState

	mu    sync.Mutex
	calls []string
	peers []*peer.Peer
}

func newFake(t testing.TB, n *network) *fake {
	t.Helper()
	f := &fake{}
	n.listen(t, func(c *ws.Conn) {
		p := peer.New(c, peer.HandlerFunc(f.handle), peer.Options{})
		f.mu.Lock()
		f.peers = append(f.peers, p)
		f.mu.Unlock()
		p.Start()
	})
	t.Cleanup(func() {
		for _, p := range f.peers {
			p.Close(ws.CodeGoingAway, "")
			p.Wait()
		}
	})
	return f
}

const fakeState = `{"provider":"p","title":"T","status":1,"lifecycle":"ready","activeClients":[],"chats":[]}`

func (f *fake) handle(_ context.Context, req *peer.Request) {
	f.mu.Lock()
	f.calls = append(f.calls, req.Method)
	f.mu.Unlock()
	if f.silent {
		req.Go(func(ctx context.Context) { <-ctx.Done() })
		return
	}
	if f.before != nil {
		f.before(req.Peer())
	}
	if f.answer != nil {
		switch v := f.answer(req.Method, req.Params).(type) {
		case nil:
		case error:
			req.Fail(v)
			return
		default:
			req.Reply(v)
			f.follow(req.Peer())
			return
		}
	}
	if req.Method == ahp.Initialize.Name {
		req.Reply(ahp.InitializeResult{ProtocolVersion: "0.6.0", ServerSeq: 10, Snapshots: []ahp.Snapshot{
			{Resource: sessionA, State: ahp.Value(cmp.Or(f.state, fakeState)), FromSeq: 10},
		}})
		f.follow(req.Peer())
		return
	}
	req.Go(func(ctx context.Context) { <-ctx.Done() }) // never answered
}

func (f *fake) follow(p *peer.Peer) {
	for _, params := range f.after {
		_ = p.Notify(ahp.ActionNotification.Name, ahp.Value(params))
	}
}

// push pushes an action notification with the given params.
func (f *fake) push(params string) {
	f.mu.Lock()
	p := f.peers[len(f.peers)-1]
	f.mu.Unlock()
	_ = p.Notify(ahp.ActionNotification.Name, ahp.Value(params))
}

// methods returns the methods that the fake received.
func (f *fake) methods() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.calls...)
}
