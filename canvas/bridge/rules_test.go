package bridge

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestRelocate(t *testing.T) {
	for _, test := range []struct{ location, want string }{
		{"/next", "/next"}, {"next?a=b", "/dir/next?a=b"}, {"?x", "/dir/page?x"}, {"../up", "/up"}, {"", ""},
		{"http://127.0.0.1:3000/a%2fb?c#d", "/a%2fb?c#d"}, {"HTTP://127.0.0.1:3000", "/"}, {"//127.0.0.1:3000/x", "/x"},
		{"http://127.0.0.1:3000//evil.example/", "/.//evil.example/"},
		{"http://127.0.0.1:3001/", "!"}, {"https://127.0.0.1:3000/", "!"}, {"//evil.example/", "!"}, {"http://127.0.0.1/", "!"},
		{"http://localhost:3000/", "!"}, {"http://u:p@127.0.0.1:3000/", "!"}, {"javascript:alert(1)", "!"}, {"data:,x", "!"}, {"http://[", "!"},
		{"\\\\evil.example", "/dir/%5C%5Cevil.example"},
	} {
		asked, _ := url.Parse("http://127.0.0.1:3000/dir/page")
		h := http.Header{"Location": {test.location}}
		err := relocate(302, h, asked)
		got := h.Get("Location")
		if err != nil {
			got = "!"
		}
		if got != test.want {
			t.Errorf("%q became %q, want %q", test.location, got, test.want)
		}
	}
}

// A request is sent to the app only once, with its path unchanged.
func TestPathAsWritten(t *testing.T) {
	var got []string
	var mu sync.Mutex
	origin, rt := app(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.RequestURI)
	}))
	_, c := pair(t, Options{Origin: origin, RoundTripper: rt})
	want := []string{"/", "/?", "/?a=b&c", "/a%2Fb", "/a//b", "//evil.example/x", "/%7Euser/", "/a;b=c", "/x?y=http://z/", "/../x"}
	for _, path := range want {
		m := message{id: 0, method: "GET", path: path, length: -1}
		cl := newCall(c, get(t, "/"))
		c.slots <- struct{}{}
		if err := c.announce(cl, &m, nil, true); err != nil {
			t.Fatal(err)
		}
		c.sending.Done()
		<-cl.headDone
	}
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the app got %q, want %q", got, want)
	}
}

// Responses with a large head, with one that is too large, and with one that never
// ends.
func TestLargeHead(t *testing.T) {
	for _, test := range []struct {
		size int
		ok   bool
	}{{16_000, true}, {17_000, false}} {
		origin, rt := app(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Large", strings.Repeat(`"`, test.size))
			_, _ = w.Write(make([]byte, maxChunk))
		}))
		_, c := pair(t, Options{Origin: origin, RoundTripper: rt})
		resp, err := c.RoundTrip(get(t, "/"))
		switch {
		case !test.ok:
			if !errors.Is(err, &Error{Code: CodeBroken}) {
				t.Errorf("a head of %d bytes gave %v", test.size, err)
			}
		case err != nil:
			t.Errorf("a head of %d bytes gave %v", test.size, err)
		default:
			if n, err := io.Copy(io.Discard, resp.Body); n != maxChunk || err != nil || len(resp.Header.Get("X-Large")) != test.size {
				t.Errorf("got %d bytes, %v", n, err)
			}
		}
	}
}
