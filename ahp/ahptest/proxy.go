package ahptest

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
)

// WatchProxyLookups replaces http.DefaultTransport until the test ends by a transport that
// looks for a proxy in the environment. lookedUp reports whether it has done so, which means
// that the code under test uses the default transport. The test must not be parallel.
func WatchProxyLookups(t testing.TB) (lookedUp func() bool) {
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
