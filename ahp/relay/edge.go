package relay

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Edge is the relay's side: an http.Handler with the three doors. Make it with
// New, end it with Close. The server that it is mounted on bounds the time for
// a request's header (10 s).
type Edge struct {
	opts    EdgeOptions
	clients *ws.Guard // the client door's addresses
	machine *ws.Guard // the other two doors': no web page
	count   counters
	quotas  quotas

	life context.Context // done when Close begins
	end  context.CancelFunc
	wg   sync.WaitGroup // registrations and lanes

	mu      sync.Mutex // guards what follows; nothing is called under it
	closed  bool
	lanes   map[string]*lane         // by id, from the offer to the end
	waiting int                      // of lanes, those without a host
	hosts   map[string]*registration // the newest of each host that is here
	control int                      // control connections, registered or not
	dialled map[string]int           // of them, by host
	known   map[string]bool          // the hosts that came before settled
	settled time.Time                // from when on a host that is not here is offline
}

// New makes an edge. It panics without an Authorizer.
func New(opts EdgeOptions) *Edge {
	if opts.Authorizer == nil {
		panic("relay: an edge needs an Authorizer")
	}
	opts = opts.withDefaults()
	e := &Edge{
		opts:    opts,
		clients: &ws.Guard{Hosts: opts.Hosts, Origins: opts.Origins, QueryToken: opts.QueryToken},
		machine: &ws.Guard{Hosts: opts.Hosts},
		lanes:   map[string]*lane{},
		hosts:   map[string]*registration{},
		known:   map[string]bool{},
		settled: time.Now().Add(opts.Settle),
		dialled: map[string]int{},
	}
	e.count.init()
	e.quotas.init(opts)
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// ServeHTTP serves /host/, /lane/ and /ahp/. It is no ServeMux, which would
// answer an unclean path with a redirect that repeats the query.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	door, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch door {
	case "host":
		e.hostDoor(w, r, name)
	case "lane":
		e.laneDoor(w, r, name)
	case "ahp":
		e.clientDoor(w, r, name)
	default:
		if why, refusal := e.judgeAddress(r, e.clients); refusal != nil {
			e.refuse(w, why, refusal)
			return
		}
		e.refuse(w, RefusedPath, &ws.Refusal{Status: http.StatusNotFound, Reason: "there is no such door"})
	}
}

// Close refuses new connections, ends all others with CodeGoingAway and waits
// for their end, or until ctx is done; then it returns its error, and what is
// left ends by itself within a few seconds.
func (e *Edge) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end()
	done := make(chan struct{})
	go func() { defer close(done); e.wg.Wait() }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start runs fn in a goroutine that Close waits for, or reports that the edge
// is closing.
func (e *Edge) start(fn func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.wg.Go(fn)
	return true
}

var goingAway = &ws.CloseError{Code: ws.CodeGoingAway, Reason: "the relay is shutting down"}

// refuse answers a request that does not get in.
func (e *Edge) refuse(w http.ResponseWriter, why Reason, refusal *ws.Refusal) {
	e.refused(why)
	refusal.Write(w)
}

func (e *Edge) refused(why Reason) {
	e.count.refused[why].Add(1)
	e.opts.Logger.Debug("refused", "reason", string(why))
}

// authorize judges a request at a door that takes tokens. Where it answers
// false, the request has been answered.
func (e *Edge) authorize(w http.ResponseWriter, r *http.Request, guard *ws.Guard, door Audience, host string) (Grant, bool) {
	if why, refusal := e.judgeAddress(r, guard); refusal != nil {
		e.refuse(w, why, refusal)
		return Grant{}, false
	}
	ctx, cancel := context.WithTimeout(r.Context(), e.opts.Handshake)
	defer cancel()
	token := guard.Presented(r)
	var grant Grant
	err := ErrUnknownToken
	if token != "" {
		grant, err = e.opts.Authorizer.Authorize(ctx, door, token, host)
	}
	if err == nil && !ValidName(host) {
		err = ErrForbidden
	}
	switch {
	case err == nil:
		return grant, true
	case errors.Is(err, ErrUnknownToken):
		e.refuse(w, RefusedToken, &ws.Refusal{Status: http.StatusUnauthorized, Reason: ErrUnknownToken.Error()})
	case errors.Is(err, ErrForbidden):
		e.refuse(w, RefusedForbidden, &ws.Refusal{Status: http.StatusForbidden, Reason: ErrForbidden.Error()})
	default:
		e.opts.Logger.Error("tokens cannot be judged", "err", err)
		e.refuse(w, RefusedInternal, &ws.Refusal{Status: http.StatusServiceUnavailable, Reason: "tokens cannot be judged now"})
	}
	return Grant{}, false
}

// judgeAddress is what comes before the token at every door.
func (e *Edge) judgeAddress(r *http.Request, guard *ws.Guard) (Reason, *ws.Refusal) {
	refusal := guard.Address(r)
	switch {
	case refusal != nil && refusal.Status == http.StatusMisdirectedRequest:
		return RefusedAddress, refusal
	case refusal != nil:
		return RefusedOrigin, refusal
	case !guard.QueryToken && r.URL.Query().Has("tkn"):
		return RefusedQuery, &ws.Refusal{Status: http.StatusUnauthorized, Reason: "no tokens in a query: they get into logs"}
	}
	return "", nil
}
