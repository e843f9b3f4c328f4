package gateway

import (
	"regexp"
	"strings"
)

// dropped are headers of an app that contact other servers, apply to a whole site, affect
// the surrounding frame, or belong to the connection or to the cookie jar. The page filters the same
// ones (headers.js).
var dropped = regexp.MustCompile(`^(?i:` + strings.Join([]string{
	"set-cookie2?", "service-worker-allowed", "clear-site-data", "refresh", "link", "alt-svc", "strict-transport-security", "set-login",
	"speculation-rules", "supports-loading-mode", "sourcemap", "x-sourcemap", "x-dns-prefetch-control", "accept-ch", "critical-ch", "origin-trial",
	"report-to", "reporting-endpoints", "nel", "content-security-policy-report-only", "document-policy.*", "require-document-policy", "permissions-policy-report-only",
	"cross-origin-.*", "attribution-reporting-.*", "observe-browsing-topics", "shared-storage-write", "activate-storage-access", "integrity-policy.*",
	"x-frame-options", "expect-ct", "public-key-pins.*", "use-as-dictionary", "available-dictionary", "no-vary-search", "x-ahp-cookies", "x-ahp-jar",
	"access-control-.*", "www-authenticate", "authentication-info",
}, "|") + `)$`)

// droppedDirectives are removed from an app's own policy: where reports go, who frames it (a
// canvas is always framed), and https.
var droppedDirectives = regexp.MustCompile(`^(?i:report-uri|report-to|frame-ancestors|upgrade-insecure-requests)$`)

// filter removes what an app may not set, and returns its own policies, which apply in
// addition to ours.
func (w *responder) filter() (policies []string) {
	if to := w.header.Get("Location"); to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//")) {
		w.header.Del("Location") // a provider leaves only paths (bridge.Proxy)
	}
	for name, values := range w.header {
		switch {
		case dropped.MatchString(name):
			delete(w.header, name)
		case name == "Content-Security-Policy":
			delete(w.header, name)
			for _, value := range values {
				if policy := ownPolicy(value); policy != "" {
					policies = append(policies, policy)
				}
			}
		}
	}
	return policies
}

// ownPolicy returns a Content-Security-Policy, a list of policies, without the directives
// that are dropped.
func ownPolicy(value string) string {
	var policies []string
	for policy := range strings.SplitSeq(value, ",") {
		var kept []string
		for directive := range strings.SplitSeq(policy, ";") {
			directive = strings.TrimSpace(directive)
			name, _, _ := strings.Cut(directive, " ")
			if directive != "" && !droppedDirectives.MatchString(name) {
				kept = append(kept, directive)
			}
		}
		if kept != nil {
			policies = append(policies, strings.Join(kept, "; "))
		}
	}
	return strings.Join(policies, ", ")
}
