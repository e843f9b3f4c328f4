// Package web is the renderer: the page that a person looks at, embedded in the
// binary, and the HTTP handler that serves it. The page is an AHP client like
// any other; nothing here knows the log, a session or a canvas.
//
// # What it promises
//
//   - A request is routed by its exact Host. App hosts serve the page's files
//     and hand the rest to Options.App; content hosts (c-, 32 hex digits) serve
//     six files below /.ahp/ and answer 404 to everything else, so that AHP,
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
//	first.js    what is said where the modules do not run
//	app.js      one session mirrored, its canvases kept mounted
//	ahp.js      the AHP client: handshake, subscriptions, coming back
//	wire.js     a message as an object; what is long in it is not looked at twice
//	state.js    the reducers of session and canvas
//	card.js     one open canvas with everything around its frame
//	mount.js    frames, ports, limits of one mount
//	view.js     view/1: the bridge of a canvas to its provider
//	bridge.js   what a canvas's service worker asks for: judged, and routed
//	outlet.js   an answer's bytes on their way to the worker, gathered in a flood
//	lane.js     http/1 on one canvas's channel; call.js is one request of it
//	headers.js  which headers of an app's answer a canvas gets
//	content.js  canvasReadResource, a few at a time; cache.js keeps what has a validator
//	base64.js
//	policy.js   which url is shown, and how
//	proof.js    whether our host still listens, before the token goes there again
//	key.js      the link's token: out of the address bar, into this tab
//	single.js   the frame of single-document mode; singleshim.js stands first in its documents
//	layout.js   order, sizes, one maximised: remembered for the session
//	timeline.js what happened, bounded
//	theme.js, ui.js, direct.js
//
// and on a content host: frame.js (outer frame), sw.js (service worker, with
// documents.js in front of it: what it says of its own), shim.js (theme before the
// first paint, event streams that outlive the worker, links for a new window, which
// a canvas has not, in the same one, and no WebRTC: Chromium ends the process of a
// page that uses it under our policies), canvas.js (what a canvas imports: onAction, send, onMessage, input,
// onInput, onTheme).
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
// # http/1
//
// Where the state's _meta has "x-ahp-canvas/http": 1, the provider answers HTTP
// (canvas/bridge/PROTOCOL.md), and a canvas is a web app. A GET without Range for
// a script, style, image, font, worker, track or manifest is a read all the same;
// everything else, documents and event streams included, is a request. Without
// the member a canvas only reads, and anything else is 501 in words.
//
// Between the service worker and the app page, over the mount's port; id is the
// worker's number, path begins with "/", headers are pairs, bytes are buffers that
// are handed over, at most 32 KiB from the worker:
//
//	worker to page  {t:"ask", id, method, path, headers, read, document, events, length?, bytes?}
//	                {t:"data", id, bytes}  {t:"end", id}                   the body, where it is more than one chunk
//	                {t:"more", id, n}                                      so much was read of the answer
//	                {t:"cancel", id}
//	page to worker  {t:"whole", id, type, body}                            a read's answer
//	                {t:"head", id, status, text, headers, empty}  {t:"data", id, chunks}  {t:"end", id}
//	                {t:"words", id, status, word}                          a failure, before the head or after it
//	                {t:"more", id, n}                                      so much of the body may come
//
// What ends, and how it looks to the canvas: a lost connection, a provider that
// went stale and a worker that was ended take everything with them that was under
// way. Requests fail, event streams come back by themselves, nothing is sent
// twice: a request other than GET and HEAD that the browser gives to the next
// worker within 3 s is refused, for it may have arrived. A canvas whose url
// changed is mounted afresh; one that only came back keeps its page.
//
// Not bridged, for no browser shows them to a service worker: synchronous XHR,
// clicks on <a download href> (a blob: one works), WebSocket, frames of an opaque
// origin. Nor does it ask for a password (HTTP authentication) or tell how far an XHR's
// upload is. Trailers end at the app page. Chromium empties request header values
// beyond ASCII. The answer to a form that is redirected with its method (307, 308) comes
// at the first address, and takes the last one as soon as its document is read, if it is HTML.
// An EventSource in a Worker is the browser's own: it ends with the service worker.
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
// # Browsers
//
// All tests run in Chromium; the main ways through the page, the board, the form and
// the chart were also run in Firefox ESR 153.7, the main ways and the board in WebKitGTK
// 2.50.6, on Linux (webtest.Each). Safari itself was not run. What is known to be otherwise there:
//
//   - Connection-Allowlist is Chromium's alone. The attack tests are put to the others too
//     (the rows with an app behind them, and the proof that each row can fail, with
//     AHP_LONG=1). This comes out of a canvas there, of any page, and nothing that a page
//     or its headers say keeps it in:
//     In Firefox WebRTC reaches any server (STUN over UDP, TURN over TCP), and what a
//     hostile canvas knows can leave by it: shim.js takes it from the canvas's document,
//     but a blank frame has it again. A person closes it by media.peerconnection.enabled
//     in about:config. WebKitGTK has none; Safari has.
//     <link rel=preconnect> in both, a link that is pointed at (by script, too) in Firefox
//     and one that wants a new window in WebKit open a connection over which nothing is
//     said, or the greeting of TLS; the host's name is in that, and is looked up. WebKitGTK
//     looks up the names of <link rel=dns-prefetch> too, whatever X-Dns-Prefetch-Control
//     says; Firefox heeds it, also against a meta element.
//   - Below localhost canvases share a process with each other in Firefox and WebKitGTK: one
//     that hangs holds up the others, and the page, which then cannot name it.
//   - A body that nobody reads does not stop its sender as early: after 30 MB in WebKitGTK, 730
//     MB in Firefox (12 MiB at most in Chromium).
//   - Firefox sends a fetch with keepalive past the service worker, so no app gets it;
//     navigator.sendBeacon arrives. It loads frames past it too where a person loads everything
//     anew; frame.js then loads the canvas again.
//   - Firefox opens an event stream that had a network error no more, so sw.js has one that
//     cannot be reached end empty: its page hears "open" once more than elsewhere.
//   - A canvas that navigates to another address before it was loaded is "did not load" in
//     Firefox; WebKit goes nowhere and shows what there was.
//   - WebKit cannot read a request's Blob in a worker (bodies are in memory there), does not say
//     that a fetch was redirected, asks for media once more, and lets no canvas take the
//     focus by script until a person has pressed something in it.
//
// Where content hosts are not found or there is no service worker, the card says so.
//
// # Before the network
//
// A Handler bounds how long a body may stand still ([InTime]), and how long its own
// files may take to be read. How many connections there are is bounded by a [Crowd],
// which whoever has the http.Server puts there.
//
// # Ownership
//
// A Handler is files in memory: no goroutine, no lock, nothing to close.
//
// # Departures from the design
//
// single.html allows style-src data: too, for what a style sheet imports, and has
// Connection-Allowlist; the layout is kept by instance id. A frame that
// crashed says nothing of it, so every mount is asked each 3 s whether it lives.
// A lane's window is a canvas's, as PROTOCOL.md has it, and not one for all of
// them. A service worker reads a body as a Blob and not as a stream: an app
// without chunked requests needs its length. The Last-Event-ID, which a service
// worker is not shown either, is told it by shim.js. A repetition is looked for
// during 3 s, not one. An app's X-Frame-Options, frame-ancestors and everything
// that reports to somebody are dropped: a canvas is always framed.
// Below localhost, where every content host is a site of its own, the outer frame
// does not ask for an origin-keyed agent cluster: its service worker shares its process.
//
// The package imports ahp. Its tests stand on canvas/host and canvas/provider/loopback;
// canvas/web/webtest is the browsers in them, one of a kind for the whole package.
package web
