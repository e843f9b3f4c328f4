package web

import (
	"io"
	"net/http"
	"time"
)

// bodyTime is how long a request's body may stand still.
const bodyTime = 30 * time.Second

// InTime bounds what http.Server's ReadHeaderTimeout does not: a body that was
// announced and does not come. Nobody has to read it for that, and nobody has to
// have a token: the server itself reads what a handler left, before it answers.
// A ReadTimeout would end long answers too, because the server goes on listening
// for the end of the connection; so the bound goes away with the body's end.
//
// A [Handler] has it; other handlers that stand before the network are wrapped.
func InTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, inTime(w, r))
	})
}

// inTime returns the request with its body bounded.
func inTime(w http.ResponseWriter, r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	b := &timedBody{r.Body, http.NewResponseController(w)}
	b.wait(bodyTime)
	bounded := *r
	bounded.Body = b
	return &bounded
}

// fileTime is how long a file may take on its way: the largest is a few KiB.
const fileTime = 30 * time.Second

// writesIn bounds how long the next answer may take to be written; 0 is for ever.
// It stays with the connection, so each request says it.
func writesIn(w http.ResponseWriter, d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(at) // a test's recorder has none
}

// timedBody is a body whose every part must come in time.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.wait(bodyTime)
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.wait(0)
	}
	return n, err
}

// wait sets the deadline of the next read; 0 is none. What is no connection, as
// in a test, has none.
func (b *timedBody) wait(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = b.conn.SetReadDeadline(at)
}
