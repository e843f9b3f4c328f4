package conform_test

import (
	"fmt"
	"slices"
	"strings"
)

// laterFaults are errors of a host in what it sends to clients of AHP 0.9 and later: at
// least one for each transcript of that folder.
var laterFaults = []fault{
	// Negotiation.
	{name: "the host claims its newest version", caught: "later/version", because: "/result/protocolVersion: want",
		toClient: onAnswer("initialize", func(x exchange) {
			if r := objectAt(x.frame, "result"); r != nil && r["protocolVersion"] == "1.7.3" {
				r["protocolVersion"] = "1.0.0"
			}
		})},
	{name: "a malformed version is skipped", caught: "later/version-malformed", because: "/error: missing",
		toHost: onOffer(func(versions []any) []any {
			return slices.DeleteFunc(versions, func(v any) bool { return v == "x" || v == "01.0.0" })
		})},
	{name: "a version between the ranges is spoken", caught: "later/version-refused", because: "/error: missing",
		toHost: onOffer(func(versions []any) []any {
			if len(versions) == 1 && versions[0] == "0.8.0" {
				return []any{"0.9.0"}
			}
			return versions
		})},
	{name: "0.10 is served as 0.9", caught: "later/version-own", because: "/result/protocolVersion: want",
		toHost: onOffer(func(versions []any) []any {
			return slices.DeleteFunc(versions, func(v any) bool { return v == "0.10.0" && len(versions) == 2 })
		})},

	// States.
	{name: "a session has the members of 0.6", caught: "later/states", because: "openCanvases: unexpected",
		toClient: onState("ahp-session:", func(state object) { state["openCanvases"] = []any{} })},
	{name: "an agent has no model", caught: "later/states", because: "models: want 1 elements, got 0",
		toClient: onState("ahp-root:", func(state object) { objectAt(state, "agents", 0)["models"] = []any{} })},
	{name: "a canvas has its availability", caught: "later/states", because: "availability: unexpected",
		toClient: onState("ahp-canvas:", func(state object) { state["availability"] = "ready" })},
	{name: "a 0.9 client gets canvases", caught: "later/without-canvases", because: "canvases: unexpected",
		toClient: onState("ahp-chat:", func(state object) { state["canvases"] = []any{} })},
	{name: "a session has one spelling for all", caught: "later/spelling", because: "/resource: want",
		toClient: onSnapshot(func(_ exchange, s object) {
			s["resource"] = strings.Replace(fmt.Sprint(s["resource"]), "ahp-session:/", "canvas:/", 1)
		})},

	// Entries.
	{name: "the last closed canvas stays in the chat", caught: "later/life", because: "canvases: unexpected",
		toClient: onAction(func(x exchange, p object) {
			if a := objectAt(p, "action"); x.actionType() == "chat/canvasesChanged" && a["canvases"] == nil {
				a["canvases"] = []any{}
			}
		})},
	{name: "a stale canvas keeps its url", caught: "later/stale", because: "url: unexpected", outside: true,
		toClient: onAction(func(x exchange, p object) {
			if state := objectAt(p, "action", "canvas"); state != nil && state["url"] == nil {
				state["url"] = "http://g.localhost/"
			}
		})},
	{name: "an editor gets no artifacts", caught: "later/artifacts", because: "/params/",
		toClient: drop(func(x exchange) bool { return x.actionType() == "session/metaChanged" })},
	{name: "artifacts have the number of the canvases", caught: "later/artifacts", because: "does not rise",
		toClient: onAction(func(x exchange, p object) {
			if x.actionType() == "session/metaChanged" {
				p["serverSeq"] = 1
			}
		})},
	{name: "a 1.0 client changes a canvas", caught: "later/refused", because: "rejectionReason: missing",
		toClient: onAction(func(_ exchange, p object) { delete(p, "rejectionReason") })},
	{name: "a 0.6 provider is named by its address", caught: "later/client-provider", because: "url: unexpected",
		toClient: onState("ahp-canvas:", func(state object) {
			if state["url"] == nil {
				state["url"] = "vscode-webview://editor/1"
			}
		})},
	{name: "settings are refused", caught: "later/editor", because: "rejectionReason: unexpected",
		toClient: onAction(func(x exchange, p object) {
			if x.actionType() == "root/configChanged" {
				p["rejectionReason"] = "no"
			}
		})},

	{name: "an unknown action is swallowed", caught: "later/chat", because: "no frame arrived",
		toClient: drop(func(x exchange) bool { return x.actionType() == "copilot/steer" })},

	// Turns and cards.
	{name: "a session does not say that its chat changed", caught: "later/chat-summary", because: "no frame arrived",
		toClient: drop(func(x exchange) bool { return x.actionType() == "session/chatUpdated" })},
	{name: "a turn never ends", caught: "later/turn", because: "no frame arrived",
		toClient: drop(func(x exchange) bool { return x.actionType() == "chat/turnComplete" })},
	{name: "the answer comes before the message", caught: "later/turn", because: "/params/action",
		toClient: swap(func(x exchange) bool {
			return x.actionType() == "chat/turnStarted" || x.actionType() == "chat/responsePart"
		})},
	{name: "all clients get cards", caught: "later/card", because: "missing in {\"type\":\"chat/toolCallStart\"}",
		toClient: func(x exchange) []object {
			if x.actionType() == "chat/turnComplete" {
				card := object{"jsonrpc": "2.0", "method": "action", "params": object{
					"channel": x.action()["channel"], "serverSeq": x.action()["serverSeq"], "action": object{"type": "chat/toolCallStart"},
				}}
				return []object{card, x.frame}
			}
			return x.same()
		}},
	{name: "the card of a closed canvas has a frame", caught: "later/card-page", because: "/frameDomains", outside: true,
		toClient: onAnswer("resources/read", func(x exchange) {
			if csp := objectAt(x.frame, "result", "contents", 0, "_meta", "ui", "csp"); csp != nil {
				csp["frameDomains"] = []any{"http://g.localhost"}
			}
		})},
}

// onOffer returns a fault that changes the versions which a client offers.
func onOffer(change func([]any) []any) func(exchange) []object {
	return func(x exchange) []object {
		if versions, ok := at(x.frame, "params", "protocolVersions").([]any); ok && x.frame["method"] == "initialize" {
			objectAt(x.frame, "params")["protocolVersions"] = change(versions)
		}
		return x.same()
	}
}

// onState returns a fault that changes the states of channels of a scheme, in snapshots for
// clients of later versions.
func onState(scheme string, change func(state object)) func(exchange) []object {
	return onSnapshot(func(_ exchange, s object) {
		if state := objectAt(s, "state"); state != nil && strings.HasPrefix(fmt.Sprint(s["resource"]), scheme) {
			change(state)
		}
	})
}
