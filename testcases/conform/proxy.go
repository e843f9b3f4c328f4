package conform

import (
	"net/http"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Link identifies a connection through a [Proxy], counted from 0 in the order
// of arrival.
type Link int

// Watcher observes the frames of a Proxy, and can change them. The connections
// call its methods concurrently.
type Watcher interface {
	// Opened is called before the first frame of a connection, with the token
	// that the connection was opened with.
	Opened(l Link, token string)
	// Frame returns what to forward instead of a frame: any number of frames.
	Frame(l Link, toHost bool, frame []byte) [][]byte
	// Ended is called as soon as one side of a connection has ended; frames of
	// the other side that are in flight can still follow. byHost reports which
	// side ended it. ws.CodeLost means an end without a close frame.
	Ended(l Link, byHost bool, code ws.CloseCode)
}

// Proxy is a WebSocket endpoint that forwards everything to a host. It does not
// check the tokens that clients present: the host does. End it with Close.
type Proxy struct {
	// To is the host's URL: ws or wss.
	To string
	// Token is used for clients that present none. A request with an Origin,
	// from a web page, must present its own token.
	Token string
	// Watcher observes the connections.
	Watcher Watcher

	mu     sync.Mutex
	known  *proof.Verifier // verifies that the host knows Token; nil before the first connection
	next   Link
	closed bool
	conns  map[*ws.Conn]struct{} // both ends of each open connection
	links  sync.WaitGroup
}

// proxyReadLimit is the largest frame that is forwarded, in bytes. It exceeds
// the limits of every host, so that the host's response to a frame that is too
// large can be observed.
const proxyReadLimit = 64 << 20

// ServeHTTP forwards a connection to the host. If the host refuses the
// connection, the response has the host's status.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		http.Error(w, "the proxy is closed", http.StatusServiceUnavailable)
		return
	}
	defer p.links.Done()
	token := (&ws.Guard{QueryToken: true}).RequestToken(r)
	if token == "" && len(r.Header["Origin"]) > 0 {
		http.Error(w, "a web page must present its own token to this proxy", http.StatusForbidden)
		return
	}
	if token == "" {
		token = p.Token
	}
	opts := ws.Options{ReadLimit: proxyReadLimit}
	host, err := ws.Dial(r.Context(), p.To, ws.DialOptions{Token: token, NetDial: p.verifier().Dial, Conn: opts})
	if err != nil {
		http.Error(w, "the proxy cannot reach the host", refusedStatus(err))
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

// verifier returns the dialer of connections to the host. It sends Token only
// to a host that proves to know it, not to another program that has taken the
// host's port.
func (p *Proxy) verifier() *proof.Verifier {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = proof.NewVerifier(p.To, p.Token, nil)
	}
	return p.known
}

// begin counts a connection before its client can know that it exists. It
// returns false if p is closed.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.links.Add(1)
	}
	return !p.closed
}

func refusedStatus(err error) int {
	if e, ok := err.(*ws.HandshakeError); ok && e.Status >= 400 {
		return e.Status
	}
	return http.StatusBadGateway
}

// register numbers a connection and records both ends, which Close closes.
func (p *Proxy) register(client, host *ws.Conn) Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = map[*ws.Conn]struct{}{}
	}
	for _, c := range []*ws.Conn{client, host} {
		p.conns[c] = struct{}{}
		if p.closed {
			c.Close(ws.CodeGoingAway, "")
		}
	}
	p.next++
	return p.next - 1
}

// forget removes both ends of a connection that has ended.
func (p *Proxy) forget(client, host *ws.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, client)
	delete(p.conns, host)
}

// run copies frames in both directions until either side ends.
func (p *Proxy) run(client, host *ws.Conn, token string) {
	l := p.register(client, host)
	defer p.forget(client, host)
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
				from.Close(sendable(ws.CodeOf(err)), "")
				to.Close(sendable(ws.CodeOf(err)), "")
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

// sendable returns the close code to forward. Some received codes cannot be
// sent.
func sendable(code ws.CloseCode) ws.CloseCode {
	if code == ws.CodeNoStatus || code == ws.CodeLost || code == 0 {
		return ws.CodeNormal
	}
	return code
}

// Wait returns when all connections have ended, which is after the clients have
// closed theirs.
func (p *Proxy) Wait() { p.links.Wait() }

// Close closes all connections, waits until they have ended, and refuses later
// ones.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		c.Close(ws.CodeGoingAway, "")
	}
	p.mu.Unlock()
	p.links.Wait()
}
