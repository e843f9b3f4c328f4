package loopback_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// A page gets a stand-in for the cookie that it has to send back in a header, and
// the app gets the cookie; of other cookies it gets nothing.
func TestStandIns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "s3cret"
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				for _, line := range []string{"XSRF-TOKEN=" + secret + "%3D; Path=/", "csrftoken=" + secret + "; Path=/", "_xsrf=" + secret + "%0A; Path=/", "theme=" + secret + "; Path=/"} {
					w.Header().Add("Set-Cookie", line)
				}
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
			}
			w.Header().Add("X-Ahp-Cookies", "the app's own")
			_, _ = io.WriteString(w, r.Header.Get("X-Token"))
		})
		h := open(t, newProvider(t, "http://127.0.0.1:3000/", s.options()))
		page, _, err := h.page.get(t, "/")
		if err != nil {
			t.Fatal(err)
		}
		list := page.Header.Get("X-Ahp-Cookies")
		have := map[string]string{}
		for pair := range strings.SplitSeq(list, "; ") {
			name, value, _ := strings.Cut(pair, "=")
			have[name] = value
		}
		if len(have) != 3 || strings.Contains(fmt.Sprint(page.Header), secret) || len(page.Header["X-Ahp-Cookies"]) != 1 {
			t.Fatalf("a document has %q", page.Header)
		}
		for _, test := range []struct{ sent, got string }{
			{have["csrftoken"], secret},
			{"Bearer " + have["XSRF-TOKEN"], "Bearer " + secret + "%3D"},
			{strings.Replace(have["XSRF-TOKEN"], "%2E", ".", 1), secret + "="}, // it undid the percent-encoding
			{strings.Replace(have["_xsrf"], "%2E", ".", 1), secret + "%0A"},    // which gives no header here
			{"none", "none"},
		} {
			req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://canvas/echo", nil)
			req.Header.Set("X-Token", test.sent)
			resp, err := h.page.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(resp.Body)
			if string(got) != test.got || resp.Header.Get("X-Ahp-Cookies") != "" {
				t.Errorf("%q arrived as %q, want %q; the answer has %q", test.sent, got, test.got, resp.Header)
			}
		}
	})
}

// However many such cookies there are, the header stays small.
func TestFewStandIns(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 170 {
			http.SetCookie(w, &http.Cookie{Name: fmt.Sprintf("csrf%d%s", i, strings.Repeat("x", 100)), Value: "1"})
		}
		w.Header().Set("Content-Type", "text/html")
	})
	h := open(t, newProvider(t, "http://127.0.0.1:3000/", s.options()))
	resp, _, err := h.page.get(t, "/")
	if err != nil || strings.Count(resp.Header.Get("X-Ahp-Cookies"), ";") != 7 {
		t.Errorf("got %v, %v", resp, err)
	}
}
