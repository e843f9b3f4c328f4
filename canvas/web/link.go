package web

import (
	"net/url"
	"strings"
)

// Link returns the address that a person opens: the page at base (an app origin)
// with the view token and the session in the fragment, which browsers do not send.
// The page removes the token from the address bar at once. An empty session means
// the default one.
func Link(base, token, session string) string { return link(base, "tkn", token, session) }

// InvitationLink is Link with an invitation instead of a token. The page exchanges it, at
// /access/redeem, for a token of that browser.
func InvitationLink(base, invitation, session string) string {
	return link(base, "invite", invitation, session)
}

// InvitationAt adds an invitation to the address of a host's page at a relay.
func InvitationAt(relayLink, invitation string) string {
	if relayLink == "" {
		return ""
	}
	return relayLink + "&invite=" + url.QueryEscape(invitation)
}

// ViewAt adds the host's view token to the address of a host's page at a relay. The page proves
// to the host that it has the token, and does not send it.
func ViewAt(relayLink, viewToken string) string {
	return relayLink + "&view=" + url.QueryEscape(viewToken)
}

func link(base, member, secret, session string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(base, "/"))
	b.WriteString("/#" + member + "=")
	b.WriteString(url.QueryEscape(secret))
	if session != "" {
		b.WriteString("&session=")
		b.WriteString(url.QueryEscape(session))
	}
	return b.String()
}
