package conform

import (
	"net/http"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Link is one connection through a [Proxy], numbered from 0 in the order in
// which they came.
type Link int

// Watcher sees what goes through a Proxy, and may change it. Its methods are
// called from the goroutines of the connections, side by side.
type Watcher interface {
	// Opened is told of a connection before its first frame, and of the token that
	// it was opened with.
	Opened(l Link, token string)
	// Frame returns what is passed on in place of a frame: nothing, it, or more.
	Frame(l Link, toHost bool, frame []byte) [][]byte
	// Ended is told of the end of a connection as soon as it is seen; frames of the
	// other side that were under way may still follow. byHost says who ended it;
	// ws.CodeLost is an end without a close frame.
	Ended(l Link, byHost bool, code ws.CloseCode)
}

// Proxy is a WebSocket endpoint that passes everything on to a host. It judges
// nobody who presents a token: the host sees it, and judges. Close ends it.
type Proxy struct {
	To string // ws or wss URL of the host
	// Token is for clients that present none. It is not lent to web pages, which
	// could be anybody's: a request with an Origin needs a token of its own.
	Token   string
	Watcher Watcher

	mu    sync.Mutex
	door  *proof.Door // for Token; nil before the first connection
	next  Link
	over  bool
	conns map[*ws.Conn]struct{} // of the connections that are open, both ends
	links sync.WaitGroup
}

// proxyReadLimit is the largest frame that passes, in bytes. It is above every
// limit of a host, whose answer to too much is to be seen.
const proxyReadLimit = 64 << 20

// ServeHTTP implements http.Handler. A host that refuses the connection refuses
// it here with the same status.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		http.Error(w, "this proxy is closed", http.StatusServiceUnavailable)
		return
	}
	defer p.links.Done()
	token := (&ws.Guard{QueryToken: true}).Presented(r)
	if token == "" && len(r.Header["Origin"]) > 0 {
		http.Error(w, "a web page needs a token of its own here", http.StatusForbidden)
		return
	}
	if token == "" {
		token = p.Token
	}
	opts := ws.Options{ReadLimit: proxyReadLimit}
	host, err := ws.Dial(r.Context(), p.To, ws.DialOptions{Token: token, NetDial: p.way().Dial, Conn: opts})
	if err != nil {
		http.Error(w, "the host behind this proxy cannot be reached", refusedStatus(err))
		return
	}
	client, err := ws.Upgrade(w, r, opts)
	if err != nil {
		host.Close(ws.CodeNormal, "")
		host.Wait()
		return
	}
	p.run(client, host, token)
}

// way is how the host is reached: while Token is there to ask with, who takes the
// host's port is lent nothing.
func (p *Proxy) way() *proof.Door {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.door == nil {
		p.door = proof.NewDoor(p.To, p.Token, nil)
	}
	return p.door
}

// enter counts a connection before its client can know that there is one.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.links.Add(1)
	}
	return !p.over
}

func refusedStatus(err error) int {
	if e, ok := err.(*ws.HandshakeError); ok && e.Status >= 400 {
		return e.Status
	}
	return http.StatusBadGateway
}

// keep numbers a connection, and has both ends closed with p.
func (p *Proxy) keep(client, host *ws.Conn) Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = map[*ws.Conn]struct{}{}
	}
	for _, c := range []*ws.Conn{client, host} {
		p.conns[c] = struct{}{}
		if p.over {
			c.Close(ws.CodeGoingAway, "")
		}
	}
	p.next++
	return p.next - 1
}

// letGo forgets both ends of a connection that has ended.
func (p *Proxy) letGo(client, host *ws.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, client)
	delete(p.conns, host)
}

// run pumps both ways until either side ends.
func (p *Proxy) run(client, host *ws.Conn, token string) {
	l := p.keep(client, host)
	defer p.letGo(client, host)
	p.Watcher.Opened(l, token)
	var end sync.Once
	pump := func(from, to *ws.Conn, toHost bool) {
		for {
			frame, err := from.ReadMessage()
			byHost := !toHost
			if err == nil {
				err = to.WriteBatch(p.Watcher.Frame(l, toHost, frame))
				byHost = toHost
			}
			if err != nil {
				end.Do(func() { p.Watcher.Ended(l, byHost, ws.CodeOf(err)) })
				from.Close(passable(ws.CodeOf(err)), "")
				to.Close(passable(ws.CodeOf(err)), "")
				return
			}
		}
	}
	var up sync.WaitGroup
	up.Go(func() { pump(client, host, true) })
	pump(host, client, false)
	up.Wait()
	client.Wait()
	host.Wait()
}

// passable is a code that may be sent in place of one that was received.
func passable(code ws.CloseCode) ws.CloseCode {
	if code == ws.CodeNoStatus || code == ws.CodeLost || code == 0 {
		return ws.CodeNormal
	}
	return code
}

// Wait returns when no connection is left: after the clients have closed theirs.
func (p *Proxy) Wait() { p.links.Wait() }

// Close ends all connections and waits until they are gone; later ones are
// refused.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.over = true
	for c := range p.conns {
		c.Close(ws.CodeGoingAway, "")
	}
	p.mu.Unlock()
	p.links.Wait()
}
