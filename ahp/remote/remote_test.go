package remote

import (
	"net/http"
	"net/netip"
	"testing"
)

// TestClient checks whose address counts: a header of a client that is no trusted proxy
// changes nothing.
func TestClient(t *testing.T) {
	proxies, err := Parse([]string{"10.0.0.0/8", "2001:db8:1::/48", "192.0.2.9"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		conn      string
		forwarded []string
		want      string
	}{
		{"198.51.100.7:1234", nil, "198.51.100.7/32"},
		{"198.51.100.7:1234", []string{"203.0.113.5"}, "198.51.100.7/32"},
		{"10.1.2.3:80", []string{"203.0.113.5"}, "203.0.113.5/32"},
		{"10.1.2.3:80", []string{"203.0.113.99, 203.0.113.5"}, "203.0.113.5/32"},
		{"10.1.2.3:80", []string{"203.0.113.99", "203.0.113.5, 10.9.9.9"}, "203.0.113.5/32"},
		{"10.1.2.3:80", nil, "10.1.2.3/32"},
		{"10.1.2.3:80", []string{"10.4.4.4"}, "10.4.4.4/32"},
		{"10.1.2.3:80", []string{"203.0.113.5, unknown"}, "10.1.2.3/32"},
		{"192.0.2.9:80", []string{"203.0.113.5:4711"}, "203.0.113.5/32"},
		{"192.0.2.10:80", []string{"203.0.113.5"}, "192.0.2.10/32"},
		{"[2001:db8:1::1]:80", []string{"2001:db8:2:3:4:5:6:7"}, "2001:db8:2:3::/64"},
		{"[2001:db8:1::1]:80", []string{"[2001:db8:2:3:4:5:6:7]:99"}, "2001:db8:2:3::/64"},
		{"[::ffff:10.0.0.1]:80", []string{"::ffff:203.0.113.5"}, "203.0.113.5/32"},
		{"[2001:db8:9:9:1::1]:80", nil, "2001:db8:9:9::/64"},
		{"mem", []string{"203.0.113.5"}, ""},
	} {
		r := &http.Request{RemoteAddr: c.conn, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		want := netip.Prefix{}
		if c.want != "" {
			want = netip.MustParsePrefix(c.want)
		}
		if got := proxies.Client(r); got != want {
			t.Errorf("%s, %q: %s, want %s", c.conn, c.forwarded, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, ok := range map[string]bool{"10.0.0.0/8": true, "::1": true, "127.0.0.1": true, "": false, "example": false, "10.0.0.0/33": false} {
		if _, err := Parse([]string{text}); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
