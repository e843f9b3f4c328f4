package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Edge is the relay: an http.Handler with three endpoints. Make it with New and
// end it with Close. The http.Server in front of it must limit the time for a
// request's header (10 s).
type Edge struct {
	opts    EdgeOptions
	clients *ws.Guard // checks addresses at the client endpoint
	machine *ws.Guard // at the other two, which refuse web pages
	fleet   Fleet     // opts.Directory, if several edges share it; otherwise nil
	count   counters
	quotas  quotas
	key     [32]byte // of the names of people

	ctx    context.Context // canceled when Close begins
	cancel context.CancelFunc
	wg     sync.WaitGroup // registrations and lanes

	mu        sync.Mutex // guards the fields below; no callback runs under it
	closed    bool
	draining  bool
	lanes     map[string]*lane         // by id, from the offer to the end
	waiting   int                      // lanes whose host has not dialed back yet
	hosts     map[string]*registration // the newest registration of each host
	control   int                      // control connections, registered or not
	dialed    map[string]int           // control connections by host
	returned  map[string]time.Time     // when hosts last registered, during a grace period
	newest    map[string]int64         // the newest generation at other edges, of the watched hosts
	graceEnds time.Time                // until then clients wait for an absent host; see startup.go

	watches watches
}

// New makes an edge. It panics if opts has no Authorizer.
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
		dialed:  map[string]int{},

		returned:  map[string]time.Time{},
		newest:    map[string]int64{},
		graceEnds: time.Now().Add(opts.StartupGrace),
		watches:   watches{hosts: map[string]*watch{}},
	}
	e.fleet, _ = opts.Directory.(Fleet)
	_, _ = rand.Read(e.key[:]) // never fails
	e.count.init()
	e.quotas.init(opts)
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// ServeHTTP serves /host/, /lane/ and /ahp/. It does not use http.ServeMux, which
// redirects an unclean path and repeats the query, and so a token, in the answer.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	endpoint, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch endpoint {
	case "host":
		e.serveHost(w, r, name)
	case "lane":
		e.serveLane(w, r, name)
	case "ahp":
		e.serveClient(w, r, name)
	default:
		if why, refusal := e.checkAddress(r, e.clients); refusal != nil {
			e.refuse(w, why, refusal)
			return
		}
		e.refuse(w, RefusedPath, &ws.Refusal{Status: http.StatusNotFound, Reason: "no such endpoint; want /ahp/HOST, /host/HOST or /lane/LANE"})
	}
}

// Close refuses new connections, closes the others with CodeGoingAway and waits
// until they have ended. If ctx is canceled first, Close returns its error, and
// the remaining connections end within a few seconds.
func (e *Edge) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	done := make(chan struct{})
	go func() { defer close(done); e.wg.Wait() }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start runs fn in a goroutine that Close waits for. It returns false if the edge
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

// refuse counts a request and answers it with a refusal.
func (e *Edge) refuse(w http.ResponseWriter, why Reason, refusal *ws.Refusal) {
	e.refused(why)
	refusal.Write(w)
}

func (e *Edge) refused(why Reason) {
	e.count.refused[why].Add(1)
	e.opts.Logger.Debug("refused", "reason", string(why))
}

// authorize checks a request at an endpoint that requires a token. If it returns
// false, it has answered the request.
func (e *Edge) authorize(w http.ResponseWriter, r *http.Request, guard *ws.Guard, audience Audience, host string) (Grant, bool) {
	if why, refusal := e.checkAddress(r, guard); refusal != nil {
		e.refuse(w, why, refusal)
		return Grant{}, false
	}
	ctx, cancel := context.WithTimeout(r.Context(), e.opts.Handshake)
	defer cancel()
	token := guard.RequestToken(r)
	var grant Grant
	err := ErrUnknownToken
	if token != "" {
		grant, err = e.opts.Authorizer.Authorize(ctx, audience, token, host)
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
		e.opts.Logger.Error("cannot check a token", "err", err)
		e.refuse(w, RefusedInternal, &ws.Refusal{Status: http.StatusServiceUnavailable, Reason: "the relay cannot check tokens now; try again later"})
	}
	return Grant{}, false
}

// checkAddress makes the checks that precede the token's at every endpoint.
func (e *Edge) checkAddress(r *http.Request, guard *ws.Guard) (Reason, *ws.Refusal) {
	refusal := guard.CheckAddress(r)
	switch {
	case refusal != nil && refusal.Status == http.StatusMisdirectedRequest:
		return RefusedAddress, refusal
	case refusal != nil:
		return RefusedOrigin, refusal
	case !guard.QueryToken && r.URL.Query().Has("tkn"):
		return RefusedQuery, &ws.Refusal{Status: http.StatusUnauthorized, Reason: "do not send a token in the query, where logs record it; send it in the Authorization header"}
	}
	return "", nil
}
