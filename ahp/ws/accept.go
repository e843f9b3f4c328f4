package ws

import (
	"bufio"
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// AcceptOptions says who may connect, and how the connection behaves.
type AcceptOptions struct {
	Guard *Guard
	// Roles are the token roles that may connect; none named means any.
	Roles []string
	Conn  Options
}

// The buffers of gorilla: reads go through 512 bytes, large ones past them;
// writes are framed by [Conn] itself, the pool only keeps gorilla from holding
// a buffer for them.
const gorillaBuffer = 512

var gorillaPool sync.Pool

// Accept checks the request (Host, Origin, token, in this order), upgrades it
// and returns the connection with what its token grants. The handler may
// return; the connection outlives it. A refused request has been answered when
// the error is returned: a *[Refusal] for the guard's, else the upgrade's.
// Compression is never negotiated.
func Accept(w http.ResponseWriter, r *http.Request, opts AcceptOptions) (*Conn, Grant, error) {
	grant, refusal := opts.Guard.Check(r, opts.Roles...)
	if refusal != nil {
		refusal.Write(w)
		return nil, Grant{}, refusal
	}
	c, err := Upgrade(w, r, opts.Conn)
	return c, grant, err
}

// Upgrade upgrades a request that was judged by other means than a [Guard]'s
// tokens, as a relay does. It checks neither Host nor Origin nor token. The rest
// is as with [Accept].
func Upgrade(w http.ResponseWriter, r *http.Request, opts Options) (*Conn, error) {
	up := websocket.Upgrader{
		ReadBufferSize:  gorillaBuffer,
		WriteBufferSize: gorillaBuffer,
		WriteBufferPool: &gorillaPool,
		Subprotocols:    []string{Subprotocol},
		CheckOrigin:     func(*http.Request) bool { return true }, // the guard did
	}
	h := &hijacker{ResponseWriter: w}
	wsc, err := up.Upgrade(h, r, nil)
	if err != nil {
		return nil, err
	}
	return newConn(wsc, h.nc, false, opts), nil
}

// hijacker puts our transport under the connection that gorilla upgrades.
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
