package dialect

import (
	"encoding/base64"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

const (
	legacyScheme = "canvas:/"
	seedScheme   = ahp.SchemeSession + ":/"
	chatPrefix   = chat.Scheme + "://default/"
)

// fold returns the host's spelling of a client's URI. ok is false for a URI of these
// schemes that names nothing.
func fold(uri string) (folded string, ok bool) {
	if id, is := strings.CutPrefix(uri, legacyScheme); is {
		return seedScheme + id, true
	}
	if !strings.HasPrefix(uri, chat.Scheme+":") {
		return uri, true
	}
	encoded, is := strings.CutPrefix(uri, chatPrefix)
	if !is {
		return "", false
	}
	of, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return "", false
	}
	session, _ := fold(string(of))
	folded = chat.URI(session)
	return folded, folded != ""
}

// spell returns the connection's spelling of a URI of the host.
func (d *dialect) spell(uri string) string {
	if session := chat.SessionOf(uri); session != "" {
		return chatPrefix + base64.RawURLEncoding.EncodeToString([]byte(d.spell(session)))
	}
	if id, is := strings.CutPrefix(uri, seedScheme); is && d.legacy {
		return legacyScheme + id
	}
	return uri
}

// chatOf returns the connection's spelling of the chat of a session.
func (d *dialect) chatOf(session string) string { return d.spell(chat.URI(session)) }
