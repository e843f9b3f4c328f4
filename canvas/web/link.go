package web

import (
	"net/url"
	"strings"
)

// Link returns the address that a person opens: the page at base (an app origin)
// with the view token and the session in the fragment, which browsers do not send.
// The page removes the token from the address bar at once. An empty session means
// the default one.
func Link(base, token, session string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(base, "/"))
	b.WriteString("/#tkn=")
	b.WriteString(url.QueryEscape(token))
	if session != "" {
		b.WriteString("&session=")
		b.WriteString(url.QueryEscape(session))
	}
	return b.String()
}
