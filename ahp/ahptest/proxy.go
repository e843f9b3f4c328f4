package ahptest

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
)

// WithProxy has http.DefaultTransport look for a proxy until the test ends, as it
// does where the environment names one, and returns whether anybody did. A test that
// calls it is not parallel.
func WithProxy(t testing.TB) (asked func() bool) {
	usual := http.DefaultTransport
	var looked atomic.Bool
	proxied := usual.(*http.Transport).Clone()
	proxied.Proxy = func(*http.Request) (*url.URL, error) {
		looked.Store(true)
		return nil, nil
	}
	http.DefaultTransport = proxied
	t.Cleanup(func() {
		http.DefaultTransport = usual
		proxied.CloseIdleConnections()
	})
	return looked.Load
}
