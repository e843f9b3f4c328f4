package serve

import (
	"slices"
	"testing"
)

// TestOpener: without a display no browser is opened.
func TestOpener(t *testing.T) {
	for _, tc := range []struct {
		system string
		env    map[string]string
		want   []string
	}{
		{"linux", nil, nil},
		{"linux", map[string]string{"DISPLAY": ":0"}, []string{"xdg-open"}},
		{"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, []string{"xdg-open"}},
		{"darwin", nil, []string{"open"}},
		{"windows", nil, []string{"rundll32", "url.dll,FileProtocolHandler"}},
	} {
		if got := opener(func(name string) string { return tc.env[name] }, tc.system); !slices.Equal(got, tc.want) {
			t.Errorf("%s %v: %q, want %q", tc.system, tc.env, got, tc.want)
		}
	}
}
