package ws

import (
	"bufio"
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// AcceptOptions configure Accept.
type AcceptOptions struct {
	// Guard checks the request.
	Guard *Guard
	// Roles are the token roles that may connect. None means any role.
	Roles []string
	// Conn configures the connection.
	Conn Options
}

// gorillaBuffer is the size of gorilla's buffers: most messages to a host are shorter, and
// an idle connection keeps one. Large reads bypass them. Writes do
// not use them, because Conn writes its frames itself.
const gorillaBuffer = 352

// gorillaPool keeps gorilla from holding a write buffer for each connection.
var gorillaPool sync.Pool

// Accept checks a request's Host, Origin and token, in this order, and upgrades it. It
// returns the connection with the grant of its token. The connection stays open after
// the handler has returned. If Accept returns an error, it has answered the request;
// the error of the guard is a *[Refusal].
func Accept(w http.ResponseWriter, r *http.Request, opts AcceptOptions) (*Conn, Grant, error) {
	grant, refusal := opts.Guard.Check(r, opts.Roles...)
	if refusal != nil {
		refusal.Write(w)
		return nil, Grant{}, refusal
	}
	c, err := Upgrade(w, r, opts.Conn)
	return c, grant, err
}

// Upgrade is [Accept] without any checks, for a caller that has checked Host, Origin
// and token in another way, as a relay does.
func Upgrade(w http.ResponseWriter, r *http.Request, opts Options) (*Conn, error) {
	up := websocket.Upgrader{
		ReadBufferSize:  gorillaBuffer,
		WriteBufferSize: gorillaBuffer,
		WriteBufferPool: &gorillaPool,
		Subprotocols:    []string{Subprotocol},
		CheckOrigin:     func(*http.Request) bool { return true }, // the caller has checked it
	}
	h := &hijacker{ResponseWriter: w}
	wsc, err := up.Upgrade(h, r, nil)
	if err != nil {
		return nil, err
	}
	return newConn(wsc, h.nc, false, opts), nil
}

// hijacker inserts a transport below the connection that gorilla upgrades.
type hijacker struct {
	http.ResponseWriter
	nc *transport
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	nc, brw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.nc = newTransport(nc)
	return h.nc, brw, nil
}
