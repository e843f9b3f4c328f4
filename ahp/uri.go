package ahp

import "strings"

// The URI schemes of channels, and the content scheme, which is not a channel.
const (
	RootURI = "ahp-root://"

	SchemeRoot    = "ahp-root"
	SchemeSession = "ahp-session"
	SchemeCanvas  = "ahp-canvas"
	SchemeContent = "ahp-canvas-content"
)

// SchemeOf returns what stands before the first colon, or "" without one.
func SchemeOf(uri string) string {
	scheme, _, ok := strings.Cut(uri, ":")
	if !ok {
		return ""
	}
	return scheme
}

// MaxURI bounds a channel URI that a client may choose, in bytes.
const MaxURI = 2048
