package web

import (
	"net/url"
	"strings"
)

// Link is the address that a person opens: the page at base (an app origin),
// with the view token and the session in the fragment, which no server sees.
// The page takes the token out of the address bar at once. An empty session is
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
