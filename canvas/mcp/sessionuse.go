package mcp

import (
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionUse knows when each MCP session over HTTP was used last, so that at the limit
// a new session replaces one that was abandoned.
type sessionUse struct {
	mu   sync.Mutex
	used map[string]*use // by session id
}

type use struct {
	calls   int // active POSTs
	streams int // open GETs
	last    time.Time
}

// begin counts a request of a session until done is called.
func (u *sessionUse) begin(r *http.Request) (done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.used[r.Header.Get(sessionHeader)]
	if s == nil {
		return func() {}
	}
	n := &s.streams
	if r.Method == http.MethodPost {
		n = &s.calls
	}
	*n++
	s.last = time.Now()
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		*n--
		s.last = time.Now()
	}
}

// add records a new session.
func (u *sessionUse) add(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if id != "" && u.used[id] == nil {
		u.used[id] = &use{last: time.Now()}
	}
}

// abandoned returns the session, among those that exist, that has no active call and was
// used least recently: one without an open stream if there is any, else nil. It forgets
// sessions that no longer exist.
func (u *sessionUse) abandoned(all map[string]*sdk.ServerSession) *sdk.ServerSession {
	u.mu.Lock()
	defer u.mu.Unlock()
	var found *use
	var id string
	for name, s := range u.used {
		if all[name] == nil {
			delete(u.used, name)
			continue
		}
		if s.calls == 0 && (found == nil || s.older(found)) {
			found, id = s, name
		}
	}
	if found == nil {
		return nil
	}
	delete(u.used, id) // two requests must not both count on its end
	return all[id]
}

func (s *use) older(than *use) bool {
	if (s.streams > 0) != (than.streams > 0) {
		return s.streams == 0
	}
	return s.last.Before(than.last)
}

// full reports whether a request begins a session although none can make room. Two
// requests at the same time can both pass.
func (s *Server) full(r *http.Request) bool {
	if r.Header.Get(sessionHeader) != "" {
		return false
	}
	sessions := map[string]*sdk.ServerSession{}
	for session := range s.mcp.Sessions() {
		if id := session.ID(); id != "" {
			sessions[id] = session
		}
	}
	if len(sessions) < s.opts.MaxSessions {
		return false
	}
	old := s.uses.abandoned(sessions)
	if old == nil {
		return true
	}
	_ = old.Close() // the error only says how its stream ended
	return false
}

// single counts a request without a session until done is called. It returns false if too
// many are active.
func (s *Server) single() (done func(), ok bool) {
	if s.singles.Add(1) > int64(maxSingle*s.opts.MaxSessions) {
		s.singles.Add(-1)
		return nil, false
	}
	return func() { s.singles.Add(-1) }, true
}

// maxSingle is how many requests without a session can be active, as a multiple of
// Options.MaxSessions.
const maxSingle = 2
