package web_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// These functions report whether a connection sent no more than what this browser is
// known to send. A connection can also end before anything is sent.
var (
	nothing  = func(said string) bool { return said == "" }
	greeting = func(said string) bool { return said == "" || strings.HasPrefix(said, "\x16\x03") } // TLS: contains the host's name
	stun     = func(said string) bool {                                                            // and TURN, which contains the canvas's data
		return said == "" || len(said) >= 20 && said[0] == 0 && said[4:8] == "\x21\x12\xa4\x42"
	}
)

// reached are the rows that a browser lets out of any page regardless of its policies,
// and what each connection and datagram contains.
var reached = map[webtest.Kind]map[string]func(said string) bool{
	webtest.Firefox: {
		"preconnect": nothing, "preconnect over TLS": greeting, "preconnect of the outer frame": nothing,
		"link that is pointed at": nothing,
		"webrtc stun":             stun, "webrtc turn over tcp": stun, "outer frame webrtc": stun,
	},
	webtest.WebKit: {
		"preconnect": nothing, "preconnect over TLS": greeting, "preconnect of the outer frame": nothing,
		"link to a new window": nothing, "link to a new window over TLS": greeting,
	},
}

// leaves are the rows that a browser unloads before they are loaded, although it
// navigates nowhere, so they cannot report that they are done.
var leaves = map[webtest.Kind][]string{
	webtest.Firefox: {"location", "link", "download", "outer frame link"},
	webtest.WebKit:  {"location"},
}

// quiet are the rows that reach nothing in a browser even without our protections, and
// why.
var quiet = map[webtest.Kind]map[string]string{
	webtest.Chromium: {
		"xslt stylesheet": "it is asked of the same origin alone",
		"xslt import":     "it is asked of the same origin alone",
	},
	webtest.Firefox: {
		"playlist":            "it plays none",
		"fetch later":         "there is none",
		"ping":                "a person has to allow it",
		"outer frame refresh": "it comes after the document, which is too late",
	},
	webtest.WebKit: {
		"playlist":             "nothing more is asked for than the list",
		"xslt stylesheet":      "it is asked of the same origin alone",
		"xslt import":          "it is asked of the same origin alone",
		"fetch later":          "there is none",
		"webtransport":         "there is none",
		"prefetch":             "there is none",
		"webrtc stun":          "there is none in WebKitGTK",
		"webrtc turn over tcp": "there is none in WebKitGTK",
		"outer frame webrtc":   "there is none in WebKitGTK",
		"top location":         "it wants to be pressed first",
		"meta refresh":         "it does not go there",
		"outer frame refresh":  "it does not go there",
	},
}

// everything are all protections, for browsers without Connection-Allowlist, in which
// several together stop a row.
func everything(falls []strip) []strip {
	all := []strip{"app: Content-Security-Policy"}
	for _, s := range slices.Concat(frameBare, assetBare, falls) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// judge checks whether a row reached its canary exactly if that is known. settled is
// when all rows of the batch have had their time.
func (a attack) judge(t *testing.T, kind webtest.Kind, c *canary, settled time.Time) {
	t.Helper()
	want, lets := reached[kind][a.name]
	var patience time.Duration
	switch {
	case lets:
		patience = webtest.Timeout / 2
	case slices.Contains(leaves[kind], a.name):
		patience = time.Until(settled.Add(time.Second))
	}
	switch hit := sung(c, patience); {
	case !lets && hit:
		t.Errorf("the canary was reached by %s", c.received())
	case lets && !hit:
		t.Errorf("%s keeps this row in now: say so here, and in doc.go", kind)
	case lets:
		c.shut()
		for _, said := range c.lines() {
			if !want(said) {
				t.Errorf("the canary received %q, which is not one of the known requests", said)
			}
		}
	}
}

// TestAttacksInOtherBrowsers: no row reaches its canary in the other browsers except
// the known ones.
func TestAttacksInOtherBrowsers(t *testing.T) {
	webtest.Each(t, func(t *testing.T) {
		t.Run("reach nothing", TestAttacksReachNothing)
		if long {
			t.Run("are real", TestAttacksAreReal)
		}
	}, webtest.Firefox, webtest.WebKit)
}
