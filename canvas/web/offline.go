package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// offline has the service worker of the page's origin, and the page that it shows if the
// host is unreachable.
//
//go:embed offline
var offline embed.FS

// offlineWorker is the path of that worker. Its folder limits what it can control to the page.
const offlineWorker = "/offline-worker.js"

// offlineScript returns the service worker of the page's origin. It contains the page that
// it shows, with its headers, so that it needs no cache.
func offlineScript(a addresses) []byte {
	style := embedded(page, "page/scale.css") + embedded(offline, "offline/page.css")
	script := embedded(offline, "offline/page.js")
	headers := a.headers(offlinePage)
	headers["Content-Type"] = mediaTypes[".html"]
	headers["Content-Security-Policy"] = strings.NewReplacer("{style}", hashSource(style), "{script}", hashSource(script)).Replace(headers["Content-Security-Policy"])
	body := strings.NewReplacer("{style}", style, "{script}", script).Replace(embedded(offline, "offline/page.html"))
	fill := strings.NewReplacer(`const PAGE = "";`, "const PAGE = "+string(ahp.MustMarshal(body))+";",
		"const HEADERS = {};", "const HEADERS = "+string(ahp.MustMarshal(headers))+";")
	return []byte(fill.Replace(embedded(offline, "offline/worker.js")))
}

// hashSource is the source of an inline style or script in a Content-Security-Policy.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
