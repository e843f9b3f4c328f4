package aap

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/inhead"
)

//go:embed bridge.js
var bridgeSource string

// bridgeMarker is the attribute by which an injected bridge is recognized.
const bridgeMarker = "data-aap-bridge"

// bridge is the script in front of a page's own: a classic script, which defines maestro
// at once, and a module, which finds out where the page is shown.
var bridge = bridgeOf("")

func bridgeOf(attribute string) []byte {
	return []byte("<script " + bridgeMarker + attribute + ">" + strings.TrimSpace(bridgeSource) + "</script>" +
		"<script type=\"module\" async " + bridgeMarker + ">" + connector + "</script>")
}

// connector imports canvas.js by its literal name, because single-document mode rewrites
// such imports. Without such a module, the renderer is another program.
const connector = `const connect = globalThis[Symbol.for("aap.connect")]; ` +
	`import("/.ahp/canvas.js").then((canvas) => connect?.(canvas), () => connect?.());`

// Inject returns a page with the bridge in it. Injecting twice is injecting once. All
// other bytes stay, except that bytes that are not UTF-8 become U+FFFD.
func Inject(html []byte) []byte { return inhead.Insert(html, bridge, bridgeMarker) }

// InjectVersion is Inject with the version of the page, which the bridge says once it is
// connected ("aap:shown"): what happened to the page since it was read is not missed.
func InjectVersion(html []byte, version string) []byte {
	return inhead.Insert(html, bridgeOf(fmt.Sprintf(" data-aap-version=%q", url.QueryEscape(version))), bridgeMarker)
}

// BridgeVersion changes with the bridge. It belongs into the validators of pages with a
// bridge.
var BridgeVersion = func() string {
	sum := sha256.Sum256(bridge)
	return hex.EncodeToString(sum[:4])
}()
