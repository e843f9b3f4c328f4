// Package bridgecanvas makes browser pages canvases of a host (package actionsbridge has
// the protocol). There are two ways:
//
//   - A page in a person's own browser dials the bridge. The canvas "browser" lists such
//     pages and lets a person decide about them; a canvas "browser-page" is one page, which
//     an agent works with. Their files are named browser….
//   - A folder with an index.html and an actions.json is a canvas whose declared actions are
//     the tools of actions.json; its page runs in a View. Its files are named folder….
//
// # Guarantees
//
//   - Letting in, refusing, disconnecting and allowing scripts are messages of a person's
//     View, never actions: no agent can do them.
//   - A browser-page is bound when it is opened. If its page is lost, the card is stale
//     until the same runtime returns, or one with its key and principal that arrives later:
//     never a twin that was there before.
//   - What comes from pages is data: it stands in one member of an event or a value, and
//     cards show it as text. URLs are shown without query and fragment.
//   - Nothing of a page is written to the disk, except the binding of an open browser-page:
//     ids and an origin.
//
// # Folders
//
//   - A call goes to one page, the one that has had the canvas open for longest, and is
//     never sent twice (package view). Arguments that do not fit, debugger tools and missing
//     capabilities are refused before a page is asked.
//   - Errors have the protocol's codes. A call without an answer ends half a second before
//     the host's own deadline, with the elapsed time and the step. A tool whose
//     x_actions.timeout_ms is above that deadline answers {"pending":true,"call_id":…} after
//     25 s, and its outcome is the event
//     {"type":"actions.result","call_id","name","output" or "error"}.
//   - An edited actions.json is declared again within a second, and pages get it without
//     being loaded again. While it is invalid, calls fail with runtime_not_ready, and the
//     canvas's status says why. The canvas keeps its id.
//   - States, checks and attachments that are plain selectors are evaluated in the page: they
//     stop calls (state_mismatch, drift_detected, target_not_found), and what has drifted is
//     the event {"type":"actions.error","runtime_id","error"}.
//
// Two scripts are put into each HTML document: runtime/early.js, inline, receives signals
// before any script of the page runs, and the module /.actions/runtime.js is the runtime. A
// call is the action actions.call of view/1 (canvas/PROTOCOL.md section 4.6). The other
// canvas/message payloads are:
//
//	View      {"actions":"item","item":{"type":"runtime_ready","runtime_id":…,…}}  an item, at most 60 KiB
//	provider  {"actions":"who"}                  asks for runtime_ready and runtime_status again
//	provider  {"actions":"config","config":{…}}  signals, states, checks and attachments of an edited file
//
// Every other message of a page is the event {"message":value}, as in any folder.
//
// # Ownership
//
// A Provider has one goroutine, which updates cards at most twice a second, and one for
// each call that outlives its agent's wait; Provider.Close ends them and waits. A folder's
// goroutines end with its Close.
//
// The package imports ahp, canvas, canvas/check, canvas/inhead,
// canvas/provider/actionsbridge, canvas/provider/folder, canvas/provider/sample (the look of its page) and canvas/view.
package bridgecanvas
