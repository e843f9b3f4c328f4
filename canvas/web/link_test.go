package web_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

func TestLink(t *testing.T) {
	for _, tt := range []struct{ base, token, session, want string }{
		{"http://localhost:8080", "abc", "", "http://localhost:8080/#tkn=abc"},
		{"http://localhost:8080/", "a+b/c=", "ahp-session:/default", "http://localhost:8080/#tkn=a%2Bb%2Fc%3D&session=ahp-session%3A%2Fdefault"},
	} {
		if got := web.Link(tt.base, tt.token, tt.session); got != tt.want {
			t.Errorf("Link(%q, …) = %q, want %q", tt.base, got, tt.want)
		}
	}
}
