package mcpapp

import (
	"slices"
	"strings"
	"testing"
)

// TestInjectedPolicy: what a server declares cannot change the policy that it stands in.
func TestInjectedPolicy(t *testing.T) {
	hostile := []string{
		"https://x; script-src *", "'unsafe-eval'", "*", "https://*", "data:", "https://x\r\nX: y", "http://plain.example", "https://user@host.example",
		"https://host.example/path", "https://a b", "https://[::1]", "blob:", "https://*.*.example", "https://host.example:0", "https://" + strings.Repeat("a", 300) + ".example", "",
	}
	list, dropped := origins(hostile)
	if len(list) != 0 || dropped != len(hostile) {
		t.Errorf("%q pass, %d of %d are dropped", list, dropped, len(hostile))
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = "https://" + strings.Repeat("a", i%50+1) + ".example"
	}
	if list, dropped := origins(many); len(list) > maxDomains || dropped != 1000-maxDomains {
		t.Errorf("%d pass, %d are dropped", len(list), dropped)
	}
	good := []string{"https://a.example", "wss://b.example:8443", "https://*.c.example", "HTTPS://A.example/"}
	if list, _ := origins(good); !slices.Equal(list, []string{"https://a.example", "wss://b.example:8443", "https://*.c.example"}) {
		t.Errorf("%q", list)
	}
}

// TestGrant: a page gets what it declares and the operator allows, and nothing by default.
func TestGrant(t *testing.T) {
	var d declaredUI
	d.CSP.Connect = []string{"https://api.example", "https://*.tiles.example", "wss://live.example"}
	d.CSP.Resource = []string{"https://cdn.example"}
	d.CSP.Frame = []string{"https://frames.example"}
	d.Permissions = map[string]any{"camera": map[string]any{}}
	none := grant(d, nil)
	if p := none.policy(); strings.Contains(p, "example") || !strings.Contains(p, "connect-src data: blob:;") || !strings.Contains(p, "frame-src 'none'") || !strings.Contains(p, "default-src 'none'") {
		t.Errorf("the policy without an allowance: %s", p)
	}
	if want := []string{"api.example", "*.tiles.example", "live.example", "cdn.example", "frames.example", "the camera"}; !slices.Equal(none.denied, want) {
		t.Errorf("denied: %q", none.denied)
	}
	some := grant(d, []string{"https://*.tiles.example", "https://cdn.example", "https://other.example"})
	p := some.policy()
	if !strings.Contains(p, "connect-src data: blob: https://*.tiles.example;") || !strings.Contains(p, "blob: data: https://cdn.example;") || strings.Contains(p, "other") || strings.Contains(p, "api.example") {
		t.Errorf("the policy with an allowance: %s", p)
	}
	for _, c := range []struct {
		allowed, declared string
		want              bool
	}{
		{"https://*.a.example", "https://b.a.example", true}, {"https://*.a.example", "https://a.example", false}, {"https://*.a.example", "https://b.a.example.evil", false},
		{"https://*.a.example", "wss://b.a.example", false}, {"https://b.a.example", "https://*.a.example", false}, {"https://*.a.example", "https://*.b.a.example", true},
	} {
		if got := covers(c.allowed, c.declared); got != c.want {
			t.Errorf("%s covers %s: %v", c.allowed, c.declared, got)
		}
	}
}
