package actionsbridge

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// DoorOptions configures [Bridge.Handler].
type DoorOptions struct {
	// Hosts are the values of the Host header that are accepted, with the port. A web page
	// can reach the listener by other names (DNS rebinding), so all others are refused.
	Hosts []string
	// Token lets in a client that sends it, as ?tkn= or, outside of browsers, as Authorization:
	// Bearer. "" is no token: programs outside of browsers are then refused.
	Token string
	// Lookup accepts further tokens, such as those that can be revoked. It must compare in
	// constant time. It can be nil.
	Lookup func(token string) bool
}

// Handler returns the HTTP endpoint of runtimes:
//
//	GET /extension  a WebSocket with one item in each text message
//	GET /health     {"ok": true}
//
// It must listen on a loopback address: its connections are not encrypted, and the token
// can be in their URL.
func (b *Bridge) Handler(o DoorOptions) http.Handler {
	d := &door{b: b, opts: o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /extension", d.extension)
	mux.HandleFunc("GET /health", d.health)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(o.Hosts, r.Host) {
			http.Error(w, "this listener is not reached by that name", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type door struct {
	b    *Bridge
	opts DoorOptions
}

func (d *door) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte("{\"ok\":true}\n"))
}

func (d *door) extension(w http.ResponseWriter, r *http.Request) {
	who, status, why := d.principal(r)
	switch {
	case status != 0:
		http.Error(w, why, status)
		return
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		w.Header().Set("Upgrade", "websocket")
		http.Error(w, "this address is a WebSocket", http.StatusUpgradeRequired)
		return
	case !d.b.enter():
		http.Error(w, "there are too many connections", http.StatusServiceUnavailable)
		return
	}
	defer d.b.done.Done()
	r.Header.Del("Sec-WebSocket-Protocol") // none is spoken
	socket, err := ws.Upgrade(w, r, ws.Options{ReadLimit: MaxItem})
	if err != nil {
		d.b.leave()
		return // it has answered
	}
	d.b.serve(socket, who)
}

// principal returns who makes a request, or the status that refuses it.
func (d *door) principal(r *http.Request) (who Principal, status int, why string) {
	origin := r.Header.Get("Origin")
	if origin == "null" {
		return who, http.StatusForbidden, "a page without an origin cannot connect"
	}
	who = Principal{Kind: kindOf(origin), Origin: origin}
	token, given := r.URL.Query().Get("tkn"), r.URL.Query().Has("tkn")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && who.Kind == Program {
		token, given = bearer, true
	}
	who.Trusted = given && d.accepts(token)
	switch {
	case given && !who.Trusted:
		return who, http.StatusUnauthorized, "the token is not that of this listener"
	case who.Kind == Program && !who.Trusted:
		return who, http.StatusUnauthorized, "a program outside of a browser needs the token"
	}
	return who, 0, ""
}

func (d *door) accepts(token string) bool {
	have, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(d.opts.Token))
	if subtle.ConstantTimeCompare(have[:], want[:]) == 1 && d.opts.Token != "" {
		return true
	}
	return d.opts.Lookup != nil && token != "" && d.opts.Lookup(token)
}

// kindOf returns what an Origin header says about a connection.
func kindOf(origin string) Kind {
	if origin == "" {
		return Program
	}
	if u, err := url.Parse(origin); err == nil && strings.HasSuffix(u.Scheme, "-extension") {
		return Extension
	}
	return Page
}

// enter reserves a place for a connection of the door, which attach or leave gives back;
// the caller calls done.Done at its end. It returns false if there are too many, or the
// Bridge ends.
func (b *Bridge) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full() {
		return false
	}
	b.entering++
	b.done.Add(1)
	return true
}

// leave gives back the place of a connection that was not opened after all.
func (b *Bridge) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entering--
}

// serve handles a socket until it ends.
func (b *Bridge) serve(socket *ws.Conn, who Principal) {
	t := &socketTransport{socket: socket, limit: b.limits.Unsent, wake: make(chan struct{}, 1)}
	var writer sync.WaitGroup
	writer.Go(t.write)
	c := b.attach(t, who, 1)
	for {
		item, err := socket.ReadMessage()
		if err != nil {
			break
		}
		c.Receive(item)
	}
	c.Close()
	t.end()
	writer.Wait()
	socket.Close(ws.CodeNormal, "")
	socket.Wait()
}

// socketTransport sends items through a WebSocket. One goroutine writes.
type socketTransport struct {
	socket *ws.Conn
	limit  int

	mu     sync.Mutex
	queue  [][]byte
	queued int // bytes, with those that are being written
	ended  bool
	wake   chan struct{}
	// closing closes the socket after the last items.
	closing func()
}

var errUnsent = errors.New("actionsbridge: the connection takes no more items")

// Send queues an item.
func (t *socketTransport) Send(item []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.queued+len(item) > t.limit {
		return errUnsent
	}
	t.queue = append(t.queue, item)
	t.queued += len(item)
	t.signal()
	return nil
}

func (t *socketTransport) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Close closes the socket with the code of the reason. Items that were queued before, such
// as the error that says why, are written first.
func (t *socketTransport) Close(reason string) {
	code := ws.CodeNormal
	switch reason {
	case ReasonEnding:
		code = ws.CodeGoingAway
	case ReasonBroken, ReasonIdle:
		code = ws.CodePolicy
	case ReasonBusy:
		code = ws.CodeTryLater
	case ReasonFailed:
		code = ws.CodeSlow
	}
	if code == ws.CodeSlow {
		t.end()
		t.socket.Close(code, reason)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.ended = true
		t.closing = func() { t.socket.Close(code, reason) }
		t.signal()
	}
}

// end ends the writer, without what is queued.
func (t *socketTransport) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.queue = true, nil
	t.signal()
}

// write writes what is queued until the transport ends.
func (t *socketTransport) write() {
	for range t.wake {
		t.mu.Lock()
		batch, ended, closing := t.queue, t.ended, t.closing
		t.queue = nil
		t.mu.Unlock()
		if len(batch) > 0 && t.socket.WriteBatch(batch) != nil {
			ended = true // the reader learns of it too
		}
		t.mu.Lock()
		for _, item := range batch {
			t.queued -= len(item)
		}
		t.mu.Unlock()
		if ended {
			if closing != nil {
				closing()
			}
			return
		}
	}
}
