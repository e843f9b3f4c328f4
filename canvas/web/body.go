package web

import (
	"io"
	"net/http"
	"time"
)

// bodyTimeout is how long the next part of a request's body can take to arrive.
const bodyTimeout = 30 * time.Second

// BodyTimeout wraps a handler so that a request fails if the next part of its body
// does not arrive within 30 s. Without it, an announced body that never arrives holds
// a connection open forever, even without a token and even if the handler ignores the
// body, because http.Server reads the rest before it answers. http.Server's
// ReadTimeout is no alternative: it would also end long responses, while the server
// waits for the connection's end. So the timeout ends with the body.
//
// A [Handler] already does this.
func BodyTimeout(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, withBodyTimeout(w, r))
	})
}

// withBodyTimeout returns the request with a timeout on its body.
func withBodyTimeout(w http.ResponseWriter, r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	b := &timedBody{r.Body, http.NewResponseController(w)}
	b.wait(bodyTimeout)
	bounded := *r
	bounded.Body = b
	return &bounded
}

// fileTimeout is how long a client can take to read a file. The largest has a few KiB.
const fileTimeout = 30 * time.Second

// setWriteTimeout limits the time to write the response; 0 is no limit. The deadline
// belongs to the connection, so it is set for each request.
func setWriteTimeout(w http.ResponseWriter, d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(at) // an httptest recorder does not support it
}

// timedBody is a request body with a deadline for each read.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.wait(bodyTimeout)
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.wait(0)
	}
	return n, err
}

// wait sets the deadline of the next read; 0 is none. Failure is ignored: an
// httptest recorder does not support deadlines.
func (b *timedBody) wait(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = b.conn.SetReadDeadline(at)
}
