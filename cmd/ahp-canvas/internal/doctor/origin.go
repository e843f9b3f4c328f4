package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// probeName is a content host's name that no canvas gets.
const probeName = "c-00000000000000000000000000000000"

// checkContentOrigin checks that a browser can resolve the host names that canvases get,
// and that the host answers to them.
func (d *doctor) checkContentOrigin(ctx context.Context, base *url.URL, page http.Header) {
	const check = "content origin"
	pattern := contentPattern(page.Get("Content-Security-Policy"))
	origin, err := url.Parse(strings.Replace(pattern, "*", probeName, 1))
	if pattern == "" || err != nil {
		d.warn(check, "the page names no origins for canvases, so each is shown as a single document",
			"Start the host with --content-origin, as in https://*.canvas.example")
		return
	}
	if !strings.HasSuffix(origin.Hostname(), ".localhost") && !resolves(ctx, origin.Hostname()) {
		d.fail(check, "names below "+pattern+" have no address", "Create a wildcard DNS record that points to the host.")
		return
	}
	root, err := get(ctx, base, "/", origin.Host)
	switch {
	case err != nil:
		d.fail(check, "no response at a name below "+pattern+": "+netError(err), "")
	case root.status == http.StatusMisdirectedRequest:
		d.fail(check, fmt.Sprintf("the host does not accept names below %s: it responds with %d", pattern, root.status),
			"A proxy might change the Host header; make it forward the header unchanged.")
	case !resolves(ctx, origin.Hostname()):
		d.warn(check, "the host accepts names below "+pattern+", but this system does not resolve names below localhost",
			"Chromium, Chrome, Edge and Firefox resolve such names themselves; use one of them for the page.")
	default:
		d.ok(check, "names below %s reach the host, which accepts them", pattern)
	}
}

func resolves(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := net.DefaultResolver.LookupHost(ctx, name)
	return err == nil
}

// contentPattern finds the pattern of canvases' origins in the page's policy.
func contentPattern(csp string) string {
	for directive := range strings.SplitSeq(csp, ";") {
		words := strings.Fields(directive)
		if len(words) == 0 || words[0] != "frame-src" {
			continue
		}
		for _, w := range words[1:] {
			if strings.Contains(w, "://*.") {
				return w
			}
		}
	}
	return ""
}
