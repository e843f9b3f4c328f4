package conform_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fault is an error of a host, injected into the frames of a correct host.
type fault struct {
	name   string
	caught string // the case that tests for it
	// because is a part of the case's failure: the case must fail for this
	// fault and no other reason.
	because  string
	outside  bool // clients stand in for the demo extensions, which can then be lost
	toHost   func(exchange) []object
	toClient func(exchange) []object
}

var faults = []fault{
	{name: "serverSeq does not rise", caught: "dispatch/order", because: "serverSeq 7 does not rise above 7",
		toClient: onAction(func(_ exchange, p object) { p["serverSeq"] = 7 })},
	{name: "an envelope has no serverSeq", caught: "dispatch/text", because: "serverSeq",
		toClient: onAction(func(_ exchange, p object) { delete(p, "serverSeq") })},
	{name: "the sender's echo is lost", caught: "dispatch/identity", because: "no frame arrived",
		toClient: drop(func(x exchange) bool { return at(x.action(), "origin") != nil })},
	{name: "an envelope is delivered twice", caught: "dispatch/text", because: "want no frame",
		toClient: func(x exchange) []object {
			if x.action() != nil {
				return []object{x.frame, x.frame}
			}
			return x.same()
		}},
	{name: "origin: null on actions of the host", caught: "root/session-added", because: "/params/origin: unexpected null",
		toClient: onAction(func(_ exchange, p object) {
			if p["origin"] == nil {
				p["origin"] = nil
			}
		})},
	{name: "the origin is taken from the payload", caught: "dispatch/identity", because: "/params/origin/clientId",
		toClient: onAction(func(_ exchange, p object) {
			if o := objectAt(p, "origin"); o != nil {
				o["clientId"] = "somebody"
			}
		})},
	{name: "clientSeq goes through a float", caught: "dispatch/client-seq-large", because: "/params/origin/clientSeq",
		toClient: onAction(func(_ exchange, p object) {
			if o := objectAt(p, "origin"); o != nil {
				f, _ := o["clientSeq"].(json.Number).Float64()
				o["clientSeq"] = json.Number(fmt.Sprintf("%.6e", f))
			}
		})},
	{name: "two dispatches are answered in the wrong order", caught: "dispatch/client-seq-zero", because: "/params/",
		toClient: swap(func(x exchange) bool { return at(x.action(), "origin") != nil })},

	// Refusals.
	{name: "a refusal is swallowed", caught: "root/unknown-types", because: "no frame arrived",
		toClient: drop(func(x exchange) bool { return at(x.action(), "rejectionReason") != nil })},
	{name: "a refusal has no reason", caught: "session/malformed", because: "/params/rejectionReason: missing",
		toClient: onAction(func(_ exchange, p object) { delete(p, "rejectionReason") })},
	{name: "a refused action is returned reformatted", caught: "session/malformed", because: "/params/action",
		toClient: onAction(func(_ exchange, p object) {
			if a := objectAt(p, "action"); p["rejectionReason"] != nil {
				delete(a, "title")
			}
		})},
	{name: "a refused dispatch has no serverSeq of its own", caught: "dispatch/rejection-seq", because: "serverSeq",
		toClient: onAction(func(_ exchange, p object) {
			if p["rejectionReason"] != nil {
				p["serverSeq"] = 0
			}
		})},

	// Values.
	{name: "members that the host does not know are dropped", caught: "session/activeClientSet", because: "x-kept: missing",
		toClient: onAction(func(_ exchange, p object) { delete(objectAt(p, "action", "activeClient"), "x-kept") })},
	{name: "a number loses a digit", caught: "session/activeClientSet", because: "want 1.50, got 1.5",
		toClient: onAction(func(_ exchange, p object) {
			if more := objectAt(p, "action", "activeClient", "tools", 0, "x-more"); more != nil {
				more["n"] = json.Number("1.5")
			}
		})},
	{name: "null turns absent", caught: "canvas/updated-clears", because: "/params/action/status: missing",
		toClient: onAction(func(_ exchange, p object) {
			a := objectAt(p, "action")
			for name, v := range a {
				if v == nil {
					delete(a, name)
				}
			}
		})},
	{name: "a null result is left out", caught: "methods/ping", because: "/result: missing",
		toClient: onAnswer("ping", func(x exchange) { delete(x.frame, "result") })},
	{name: "error: null next to a result", caught: "methods/ping", because: "/error: unexpected null",
		toClient: onAnswer("ping", func(x exchange) { x.frame["error"] = nil })},
	{name: "ids come back as strings", caught: "frames/ids", because: "/id: want 0",
		toClient: func(x exchange) []object {
			if n, ok := x.frame["id"].(json.Number); ok && x.asks("ping") {
				x.frame["id"] = n.String()
			}
			return x.same()
		}},

	// Errors.
	{name: "an unknown session is NotFound", caught: "subscribe/unknown-session", because: "/error/code: want -32001, got -32008", toClient: code("-32001", "-32008")},
	{name: "bad params are an internal error", caught: "session/create-bad", because: "/error/code: want -32602, got -32603", toClient: code("-32602", "-32603")},
	{name: "an unknown method is an invalid request", caught: "frames/unknown-method", because: "/error/code: want -32601", toClient: code("-32601", "-32600")},
	{name: "a session in use is made again", caught: "session/create-twice", because: "/error: missing",
		toClient: func(x exchange) []object {
			if x.frame["error"] != nil && x.asks("createSession") {
				return []object{{"jsonrpc": "2.0", "id": x.frame["id"], "result": nil}}
			}
			return x.same()
		}},
	{name: "foreign content is denied instead of absent", caught: "content/read-foreign", because: "/error/code: want -32008, got -32009", toClient: code("-32008", "-32009")},

	// The handshake.
	{name: "requests are served before the handshake", caught: "handshake/request-before", because: "/error: missing",
		toClient: func(x exchange) []object {
			if x.asks("listSessions") && x.frame["error"] != nil {
				return []object{{"jsonrpc": "2.0", "id": x.frame["id"], "result": object{"items": []any{}}}}
			}
			return x.same()
		}},
	{name: "supported versions are missing", caught: "handshake/version-none", because: "/error/data: missing",
		toClient: onAnswer("initialize", func(x exchange) { delete(objectAt(x.frame, "error"), "data") })},
	{name: "the first offered version is taken", caught: "handshake/version-highest", because: "/result/protocolVersion",
		toClient: onAnswer("initialize", func(x exchange) {
			if r := objectAt(x.frame, "result"); r != nil {
				r["protocolVersion"] = at(x.request, "params", "protocolVersions", 0)
			}
		})},

	// Snapshots and subscriptions.
	{name: "a snapshot has no fromSeq", caught: "subscribe/snapshot", because: "fromSeq: missing",
		toClient: onSnapshot(func(_ exchange, s object) { delete(s, "fromSeq") })},
	{name: "a snapshot names an old fromSeq", caught: "subscribe/snapshot", because: "fromSeq: $seq is bound to",
		toClient: onAnswer("subscribe", func(x exchange) {
			x.snapshots(func(s object) { s["fromSeq"] = 0 })
		})},
	{name: "events come after unsubscribe", caught: "subscribe/unsubscribe", because: "want no frame",
		toHost: drop(func(x exchange) bool { return x.frame["method"] == "unsubscribe" })},
	{name: "the root's summary does not follow a title", caught: "root/summary-changed", because: "no frame arrived",
		toClient: drop(func(x exchange) bool { return x.frame["method"] == "root/sessionSummaryChanged" })},

	// The gate of the Canvas surface.
	{name: "the gate is open for snapshots", caught: "canvas/gate-snapshot", because: "openCanvases: unexpected",
		toClient: onSnapshot(func(_ exchange, s object) {
			if state := objectAt(s, "state"); strings.HasPrefix(fmt.Sprint(s["resource"]), "ahp-session:") && state["openCanvases"] == nil {
				state["openCanvases"] = []any{}
			}
		})},
	{name: "the gate is open for envelopes", caught: "canvas/gate-envelopes", because: "want no frame, got",
		toHost: func(x exchange) []object {
			if p := objectAt(x.frame, "params"); x.frame["method"] == "initialize" && p["capabilities"] == nil {
				p["capabilities"] = object{"canvas": object{}}
			}
			return x.same()
		}},

	// Canvases.
	{name: "the catalogue changes before the channel", caught: "canvas/invoke", because: "/params/",
		toClient: swap(func(x exchange) bool {
			return x.actionType() == "canvas/updated" || x.actionType() == "session/openCanvasesChanged" && x.held[x.link] != nil
		})},
	{name: "a View's message reaches other Views", caught: "canvas/message", because: "want no frame", toClient: overheard},
	{name: "content is text and blob at once", caught: "content/read", because: "/result/contents/0/blob: unexpected",
		toClient: onAnswer("canvasReadResource", func(x exchange) {
			if entry := objectAt(x.frame, "result", "contents", 0); entry != nil {
				entry["blob"] = "eA=="
			}
		})},
	{name: "a provider gets a request twice", caught: "provider/open", because: "canvasOpen",
		toClient: func(x exchange) []object {
			if x.frame["method"] == "canvasOpen" {
				return []object{x.frame, x.frame}
			}
			return x.same()
		}},

	// Reconnecting.
	{name: "a replay after the end of the log", caught: "reconnect/beyond", because: "/result/",
		toClient: onAnswer("reconnect", func(x exchange) {
			x.frame["result"] = object{"type": "replay", "actions": []any{}, "missing": []any{}}
		})},
	{name: "a replay begins one action late", caught: "reconnect/replay", because: "want 2 elements, got 1",
		toClient: onReplay(func(actions []any) []any { return actions[min(1, len(actions)):] })},
	{name: "a replay has the last action twice", caught: "reconnect/replay", because: "want 2 elements, got 3",
		toClient: onReplay(func(actions []any) []any { return append(actions, actions[len(actions)-1]) })},
	{name: "a replay is in descending order", caught: "reconnect/replay", because: "/result/actions/0",
		toClient: onReplay(func(actions []any) []any {
			slices.Reverse(actions)
			return actions
		})},
	{name: "a replay does not say what is missing", caught: "reconnect/replay-empty", because: "/result/missing: missing",
		toClient: onAnswer("reconnect", func(x exchange) { delete(objectAt(x.frame, "result"), "missing") })},
	{name: "what was replayed comes again", caught: "reconnect/replay", because: "serverSeq",
		toClient: func(x exchange) []object {
			actions, _ := at(x.frame, "result", "actions").([]any)
			out := x.same()
			if len(actions) > 0 && x.asks("reconnect") {
				out = append(out, object{"jsonrpc": "2.0", "method": "action", "params": actions[0]})
			}
			return out
		}},
}

// swap holds a frame back until the next frame that counts has passed.
func swap(counts func(exchange) bool) func(exchange) []object {
	return func(x exchange) []object {
		switch {
		case !counts(x):
			return x.same()
		case x.held[x.link] == nil:
			x.held[x.link] = x.frame
			return nil
		}
		first := x.held[x.link]
		delete(x.held, x.link)
		return []object{x.frame, first}
	}
}

// overheard also sends a View's message to all other connections.
func overheard(x exchange) []object {
	if x.actionType() == "canvas/message" && at(x.action(), "origin") != nil {
		x.spoiler.leaked = append(x.spoiler.leaked, leak{x.link, x.frame})
	}
	return x.same()
}

// onReplay returns a fault that changes the actions of a replay.
func onReplay(change func([]any) []any) func(exchange) []object {
	return onAnswer("reconnect", func(x exchange) {
		if actions, _ := at(x.frame, "result", "actions").([]any); len(actions) > 0 {
			objectAt(x.frame, "result")["actions"] = change(actions)
		}
	})
}
