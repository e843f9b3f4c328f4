package ahp

import "strings"

// RootURI is the URI of the root channel.
const RootURI = "ahp-root://"

// The URI schemes.
const (
	SchemeRoot    = "ahp-root"           // the root channel
	SchemeSession = "ahp-session"        // session channels
	SchemeCanvas  = "ahp-canvas"         // canvas channels
	SchemeContent = "ahp-canvas-content" // content of a canvas, which is no channel
)

// SchemeOf returns the part of uri before the first colon, or "" if there is none.
func SchemeOf(uri string) string {
	scheme, _, ok := strings.Cut(uri, ":")
	if !ok {
		return ""
	}
	return scheme
}

// MaxURI is the most bytes that a channel URI chosen by a client may have.
const MaxURI = 2048
