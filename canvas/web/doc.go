// Package web is the renderer: the page that a person looks at, embedded in the
// binary, and the HTTP handler that serves it. The page is an AHP client like
// any other; nothing here knows the log, a session or a canvas.
//
// # What it promises
//
//   - A request is routed by its exact Host. App hosts serve the page's files
//     and hand the rest to Options.App; content hosts (c-, 32 hex digits) serve
//     five files below /.ahp/ and answer 404 to everything else, so that AHP,
//     MCP and health cannot be reached there; any other name gets 421.
//   - Every response of ours, errors included, carries the headers of its kind.
//     They stand as data in one table (policies); the service worker gets its
//     row of it built in, so that nothing controlled by a canvas has a say.
//   - Every mount has an origin that was never used before and never is again.
//     Its frames and its service worker count as controlled by the canvas: what
//     it may read, how much, and which instance it is are decided by the app
//     page, what it may reach by the headers.
//   - Blank is never an answer: each failure has plain words in the page.
//
// # The page
//
// Plain ES modules without a build step, type-checked by JSDoc (npm run check):
//
//	app.js      one session mirrored, its canvases kept mounted
//	ahp.js      the AHP client: handshake, subscriptions, coming back
//	state.js    the reducers of session and canvas
//	card.js     one open canvas with everything around its frame
//	mount.js    frames, ports, limits of one mount
//	view.js     view/1: the bridge of a canvas to its provider
//	content.js  canvasReadResource, a few at a time
//	policy.js   which url is shown, and how
//	key.js      the link's token: out of the address bar, into this tab
//	single.js   the frame of single-document mode; singleshim.js stands first in its documents
//	layout.js   order, sizes, one maximised: remembered for the session
//	timeline.js what happened, bounded
//	theme.js, ui.js, direct.js
//
// and on a content host: frame.js (outer frame), sw.js (service worker),
// shim.js (theme before the first paint, and no WebRTC: Chromium ends the
// process of a page that uses it under our policies), canvas.js (what a canvas
// imports: onAction, send, onMessage, input, onInput, onTheme).
//
// # view/1
//
// A page without a server of its own takes part by canvas/message payloads that
// are tagged {"x-ahp": "view/1"}; any other payload passes untouched, both ways.
//
//	page to provider  {"x-ahp":"view/1","type":"hello"}                        it takes actions from now on
//	                  {"x-ahp":"view/1","type":"bye"}                          it does not any more
//	                  {"x-ahp":"view/1","type":"result","id":…,"value":…}      value absent: none
//	                  {"x-ahp":"view/1","type":"error","id":…,"error":{"code":"…","message":"…"}}
//	provider to page  {"x-ahp":"view/1","type":"invoke","id":…,"action":"…","input":…}
//	                  {"x-ahp":"view/1","type":"reload"}                       load the page again, where it was scrolled to
//
// The id is the provider's, any JSON scalar, echoed. An action that was given to
// a page which then went away is answered with canvas_provider_unavailable. After
// a lost connection a page says hello again: it is another View then.
//
// # Single-document mode
//
// Without service workers, or without content origins, a canvas is one srcdoc in
// /single.html, whose origin is opaque: scripts (modules with their imports by
// name), styles, fonts, images and media are read and put into it; links go to
// other documents of the canvas; view/1 is as ever. It has no storage, fetches
// nothing and frames nothing: the card says that it is this mode, and names what
// is lacking. Module specifiers are found by pattern, not by a parser: a computed
// import() finds nothing.
//
// # Ownership
//
// A Handler is files in memory: no goroutine, no lock, nothing to close.
//
// # Departures from the design
//
// single.html allows style-src data: too, for what a style sheet imports, and has
// Connection-Allowlist; the layout is kept by instance id. The http/1 bridge is
// not built: the service worker answers 501 to what a read
// cannot do (any method but GET, Range, event streams). A frame that
// crashed says nothing of it, so every mount is asked each 3 s whether it lives.
//
// The package imports ahp. Its tests stand on canvas/host; canvas/web/webtest is
// the browser in them.
package web
