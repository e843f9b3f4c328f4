// Package web is the renderer: the page on which people see canvases, embedded in
// the binary, and the HTTP handler that serves it. The page is an ordinary AHP
// client; nothing here knows the log, a session or a canvas.
//
// # Guarantees
//
//   - Requests are routed by their exact Host. App hosts serve the page's files and
//     pass other paths to Options.App. Content hosts (c- and 32 hex digits) serve our
//     files below /.ahp/ and answer 404 otherwise, so that AHP, MCP and health cannot
//     be reached there. Any other name gets 421.
//   - Each of our responses, including errors, has the headers of its kind. They are
//     data in one table (policies). The service worker's headers are built into its
//     script, so that a canvas cannot influence them.
//   - A canvas opens no dialog, saves no file and uses nothing of the device unless the
//     person agrees on its card (canvas/PROTOCOL.md section 4.11).
//   - A canvas has an origin in each browser that no other canvas, host, session or opening
//     has, and that is not used again after a close (see Storage). A canvas can control its
//     frames and use its service worker, so the app page decides what a canvas can read, how
//     much, and as which instance. The headers decide which addresses it can reach.
//   - The page shows a text for each failure, never an empty frame.
//
// # The page
//
// The page consists of ES modules, type-checked by JSDoc (npm run check). go generate joins
// them to built/page.js, which is what browsers load: one by one, they take twice as long to
// connect.
//
//	paint.js    the theme of the first paint
//	first.js    the message if the modules do not run
//	app.js      mirrors one session and keeps its canvases mounted
//	ahp.js      the AHP client: connects and reconnects; handshake.js, bookmark.js: the first
//	            request, and what was applied since; calls.js, safe.js: requests, and which are repeated
//	wire.js     parses the host's messages without scanning long data
//	state.js    the reducers of session and canvas
//	card.js     one open canvas: its state, controls and close
//	cardframe.js its frame; cardorigin.js: on which origin; cardconn.js: http/1 and ws/1 on its channel; carddraw.js: what is around the frame
//	cardtext.js the markup of a card, and its longer texts
//	allowed.js  the origins that the operator lets canvases load from
//	mount.js    the frame of a canvas, its ports and its limits; warm.js: one that is loaded before its canvas, for pictures
//	kept.js     the origins of canvases in this browser, and when they are cleared
//	view.js     view/1: connects a canvas's page to its provider
//	offer.js    the bar with a link that a canvas offers
//	consent.js  what a canvas wants of the person; askbar.js is the bar, permissions.js what was
//	            allowed, print.js a print
//	bridge.js   routes the requests of a canvas's service worker
//	outlet.js   batches response bytes for the worker
//	http.js     http/1 on one canvas's channel; call.js is one request
//	gateway.js  the address of a canvas on the host's listener, if the page reaches it
//	headers.js  filters the headers of an app's response
//	content.js  canvasReadResource, a few reads at a time; cache.js stores validated reads
//	base64.js
//	base.js     the path of the page, "/" unless a proxy has it under a prefix
//	policy.js   decides which urls are shown, and how
//	proof.js    verifies the host before the token is sent again
//	key.js      moves the link's token from the address bar into this tab's storage
//	singlemode.js decides whether canvases need single-document mode
//	single.js   the frame of single-document mode; assemble.js makes its documents, and
//	            singleshim.js is the first script in them
//	focus.js    which canvas a person uses; keyboard.js: stops a canvas that takes the keyboard
//	layout.js   which canvases are panes, in which order; layoutdraw.js: puts them there; layoutsize.js: sizes, and what the browser keeps
//	switcher.js the tabs and the list of all canvases; entries.js: what they show; pictures.js: what each canvas looked like
//	timeline.js the list of what happened
//	offline.js  installs the service worker of the page's origin
//	theme.js, ui.js, direct.js
//
// The folder offline has that worker. It answers only navigations to the page that failed
// over the network, with one page that it contains: the page says that the host cannot be
// reached, and opens the canvases when it answers. The worker stores nothing.
//
// On a content host: frame.js (the outer frame), sw.js (the service worker, with documents.js
// and tabs.js in front of it), clear.js (of the document that clears what its origin stored),
// shim.js (the first script in each document of a canvas: the theme before the first paint,
// the dialogs, downloads and links of asks.js, the document.cookie of cookies.js, WebSockets
// to the app's own port (ownport.js), event streams that survive the worker, links for new
// windows opened in place, and no WebRTC, because Chromium kills the process of a page that
// uses it under our policies), canvas.js (imported by a canvas: onAction, send, onMessage,
// input, onInput, onTheme, offerLink, mayLoad). A content host whose name begins with the
// label of a list (package allow) has its origins in its policies, in sw.js and in canvas.js;
// the names of other canvases begin with "c".
//
// # view/1
//
// A page without a server takes part by canvas/message payloads that are tagged
// {"x-ahp": "view/1"}. Other payloads pass unchanged in both directions.
//
//	page to provider  {"x-ahp":"view/1","type":"hello"}                        ready for actions
//	                  {"x-ahp":"view/1","type":"bye"}                          no longer ready
//	                  {"x-ahp":"view/1","type":"result","id":…,"value":…}      value can be absent
//	                  {"x-ahp":"view/1","type":"error","id":…,"error":{"code":"…","message":"…"}}
//	provider to page  {"x-ahp":"view/1","type":"invoke","id":…,"action":"…","input":…}
//	                  {"x-ahp":"view/1","type":"reload"}                       reload the page, keep its scroll position
//
// The provider chooses the id, any JSON scalar; the page echoes it. If the page is closed
// before it answers, the answer is canvas_provider_unavailable. After a lost connection
// a page is a new View, and says hello again.
//
// A document can do the same without canvas.js: {type: "canvas/message", payload} to and
// from its parent window (canvas/PROTOCOL.md section 4.8). The frames pass such messages on
// from the canvas's own document only, and the app page treats them like those of a port.
// In another renderer canvas.js, which is content of every instance, uses them.
//
// # http/1
//
// If the state's _meta has "x-ahp-canvas/http": 1, the provider answers HTTP
// (canvas/bridge/PROTOCOL.md), and the canvas is a web app. A GET without Range for a
// script, style, image, font, worker, track or manifest is still a content read; any
// other request, including documents and event streams, is http/1. Without the member a
// canvas can only read, and other requests get a 501.
//
// These messages pass between the service worker and the app page, on the mount's port.
// id is the worker's number, path begins with "/", headers are pairs, bytes are
// transferred buffers of at most 32 KiB from the worker:
//
//	worker to page  {t:"ask", id, method, path, headers, read, document, events, length?, bytes?}
//	                {t:"data", id, bytes}  {t:"end", id}                   a body of more than one chunk
//	                {t:"more", id, n}                                      n bytes of the response were read
//	                {t:"cancel", id}
//	page to worker  {t:"whole", id, type, body}                            the result of a read
//	                {t:"head", id, status, text, headers, empty}  {t:"data", id, chunks}  {t:"end", id}
//	                {t:"words", id, status, word}                          a failure, before or after the head
//	                {t:"more", id, n}                                      n more bytes of the body can be sent
//
// A lost connection, a stale provider and a stopped worker end all requests in progress.
// Event streams reconnect automatically. Nothing is sent twice: a request other than GET
// and HEAD that the browser repeats to the next worker within 3 s is refused, because the
// app may have received it. A canvas whose url changed is mounted again; one whose
// provider was stale keeps its page.
//
// Browsers do not pass these to a service worker, so they do not work in a canvas:
// synchronous XHR, clicks on <a download href> (a blob: URL works), and frames with an
// opaque origin. HTTP authentication and the progress of an XHR's upload do not
// work either. Trailers end at the app page. Chromium empties request header values that
// are not ASCII. A form's response after a redirect that keeps its method (307, 308)
// appears at the first address, and takes the last one once its document is read, if it
// is HTML. An EventSource in a Worker is the native one: it ends with the service worker.
// The theme is in attributes of <html>: React in development (next dev) reports them as a
// mismatch with what its server rendered, and hydrates the document all the same. An app that
// looks at its own host name sees that of the canvas: production builds of tldraw hide the
// editor below .localhost without a license, development builds do not.
//
// # ws/1
//
// A service worker does not see WebSockets either. If the state's _meta has
// "x-ahp-canvas/ws": 1, sockets.js (served in front of shim.js) replaces the class of each
// document and frame of the canvas by one that behaves as the browser's, and sends its
// messages on a port to the app page: one port for each document, which the outer frame
// passes on. Dedicated workers have it too: sw.js inserts sockets.js into the app's scripts,
// and the document's Worker class into those of blobs; their messages pass through the
// document that created them. single.js inserts it into single documents, which have the
// app's address or a relative url for it. A worker of a data: url keeps the
// browser's class, whose WebSockets fail. A url of another server is left to the
// browser's class and the canvas's policy.
//
//	document to page  {t:"open", id, path, host?, protocols}  {t:"close", id, code?, reason?}
//	                  {t:"send", id, binary, more, bytes}                  a part of at most 32 KiB
//	                  {t:"read", id, n}                                    n of what arrived was read
//	                  {t:"bye"}                                            the document has ended
//	page to document  {t:"opened", id, protocol}  {t:"message", id, binary, more, bytes}
//	                  {t:"sent", id, n}                                    n of what the document sent has left
//	                  {t:"closed", id, code, reason, clean, word, failed}
//
// n counts bytes and 64 for each part; the page buffers 256 KiB of each WebSocket.
//
// # Storage
//
// What a canvas stores in a browser lasts until the canvas is closed, its provider changes,
// or it is cleared. The label of its origin is an HMAC, under a secret in the storage of the
// page, of the host (its name and key at a relay), the session, the channel, which is new for
// each opening of an instance, the provider, and a salt that is new after each clearing. The
// tabs of one browser share it. The frame is not credentialless, because Chromium forgets what
// such a frame stores. Without localStorage in the page, and in the browser that makes
// pictures, each mount has an origin that is used once.
//
// An earlier document of a canvas must not rule a later one:
//
//   - The host serves /.ahp/sw.js only as a service worker and without a query, and no other
//     file as one. A canvas can still register it with a narrower scope. So the outer frame
//     unregisters everything before it registers the worker, and loads the canvas once that
//     registration controls it. After 2 s the canvas is mounted on an origin that is used
//     once, and the card says so. While another tab shows the canvas, which kept.js knows by a
//     lock of the page's origin, the registration of that tab stays.
//   - The worker keeps nothing on disk, no CacheStorage either. It has a port for each outer
//     frame, and asks a document for its outer frame if there is more than one tab. The first
//     request of a document names none and takes the newest port.
//   - Shared workers are refused: they could outlive the tab. shim.js removes the class from
//     documents; a blank frame has it again and can start one from a blob. It reaches no
//     more than the canvas does, and cannot register a service worker.
//
// Documents of one canvas otherwise trust each other over time, and the canvases of one
// domain can set cookies for the domain, which nothing reads: an app's cookies are at the host.
//
// An origin that is not used again is cleared: a hidden frame loads /.ahp/clear.html, whose
// response has Clear-Site-Data. Below a domain that leaves cookies out, because it would take
// those of all canvases; clear.js ends the ones that it sees. kept.js tries again with the next
// page if the host does not answer. When a page has the list of open canvases, it clears those
// of the session that are gone. A canvas that was not shown for 90 days is cleared too.
//
// A canvas may store 64 MiB, and all together 512 MiB; beyond that, those that were not shown
// for longest are cleared first. The outer frame measures before it loads the canvas, and
// every 20 s. A hostile canvas can change what the frame says later, but not what it says
// before. Firefox can report the usage of a whole domain, so there is no limit
// there, except below localhost. The card says what was cleared, and its menu clears.
//
// # Single-document mode
//
// Without service workers or content origins, a canvas is one srcdoc in /single.html
// with an opaque origin. Scripts (with the imports of modules), styles, fonts, images
// and media are inlined; links lead to other documents of the canvas; view/1 works as
// usual, and so do submit handlers of forms, whose events singleshim.js fires in place of
// the browser. The canvas has no storage, cannot fetch and cannot have frames. The card
// shows the mode and what could not be loaded. Module specifiers are found by a pattern,
// so a computed import() does not work.
//
// Plain http beyond loopback is such a case: browsers then have no service workers and no
// crypto.subtle. The page states that the connection is not private.
//
// # The keyboard
//
// A canvas can focus itself at any time, and then gets what a person types elsewhere. Giving
// the focus back does not help: Chromium then names the other frame, and the keys still go to
// the thief. So keyboard.js looks at the focused element every 8 ms while a frame has the
// focus, and removes a frame that took the focus from another canvas or from a text field
// of the page, unless a person moved it: the pointer is over the frame, or Tab was pressed
// in the page in the last 500 ms, or the page moved it. A canvas under the pointer can take
// the focus. The page sees no pointer within a frame, so each one has a transparent shield,
// which goes away when the pointer enters it. In Chromium, at most one character was lost in
// 20 runs, and no person's move was mistaken; Firefox and WebKitGTK were not measured. With
// a touch screen the guard is off, because the shield would swallow the first touch. A
// screen reader that moves the focus from one canvas to another, without Tab, is taken for
// a theft. A focus that no person moved, such as that of a canvas that focuses itself while it
// is loaded, is not protected.
//
// # Browsers
//
// All tests run in Chromium. The main paths of the page, the board, the form and the
// chart were also run in Firefox ESR 153.7, the main paths and the board in WebKitGTK
// 2.50.6, on Linux (webtest.Each). Safari was not run. Known differences:
//
//   - Only Chromium supports Connection-Allowlist. The attack tests run in the others too
//     (the rows with an app behind them; with AHP_LONG=1 also the proof that each row can
//     fail). In these browsers a canvas, like any page, can still reach other servers in the
//     following ways, which no header or script prevents.
//     In Firefox, WebRTC reaches any server (STUN over UDP, TURN over TCP) and can carry
//     data out. shim.js removes it from the canvas's document, but a blank frame has it
//     again; media.peerconnection.enabled in about:config switches it off. WebKitGTK has no
//     WebRTC; Safari has.
//     <link rel=preconnect> in both, hovering a link (also by script) in Firefox, and a link
//     for a new window in WebKit open a connection that carries nothing, or the TLS
//     greeting, which contains the host's name; the name is also looked up. WebKitGTK looks
//     up the names of <link rel=dns-prefetch> in spite of X-Dns-Prefetch-Control; Firefox
//     obeys the header.
//   - Below localhost, canvases share one process in Firefox and WebKitGTK: one that hangs
//     blocks the others and the page, which then cannot report it.
//   - Backpressure on a body that is not read begins later: after 30 MB in WebKitGTK, 730 MB
//     in Firefox (at most 12 MiB in Chromium).
//   - Firefox sends a fetch with keepalive past the service worker, so the app does not get
//     it; navigator.sendBeacon works. A forced reload also loads frames past the worker;
//     frame.js then loads the canvas again.
//   - Firefox does not reopen an event stream after a network error, so sw.js ends an
//     unreachable one with an empty response: the page gets an extra "open" event.
//   - A canvas that navigates to another address before it has loaded is reported as not
//     loaded in Firefox; WebKit ignores the navigation.
//   - WebKit stores no cookie of a frame of another host over http. So there the page shows
//     web apps through the channel also where the host frames them on its listener; opened
//     in a tab, such an address works.
//   - WebKit cannot read a request's Blob in a worker (bodies are in memory there), does not
//     report that a fetch was redirected, requests media twice, and does not let a canvas
//     take the focus by script before a person has clicked in it.
//
// If content hosts cannot be resolved or there is no service worker, the card says so.
//
// # Problems
//
// content/problems.js is the first script of each document of a canvas. It collects
// uncaught errors with file and line, console errors, blocked addresses and files that
// could not be read: at most 50, the same problem once with a count. If an agent looks, the
// app page asks the frame with {t: "look", id}, and frame.js answers with the problems since
// the last answer and an outline of the document (content/outline.js):
//
//	{t: "looked", id, problems: [{kind, text, file?, line?, column?, time, count}], dropped, outline, full, idle, revision}
//
// kind is "error", "console", "blocked" or "read". All of it is untrusted: the canvas can
// change it, so page/look.js checks it. A browser that makes a picture opens the page with
// look= in the fragment: it then shows the one canvas that ahpLook names, without dialogs,
// in a frame that page/warm.js has loaded before. {"x-ahp": "warm"} tells that frame to
// register its service worker, or to keep it running. {"x-ahp": "here"} asks a frame to answer
// on the message's port: page/gateway.js looks that way whether an address works.
//
// # Pictures
//
// The list of canvases shows what each one looked like when the person last saw it. A page
// cannot paint a frame of another origin, and a picture by a browser of the host's machine
// would show the host's canvas and not the person's, and needs a browser there. So the app
// page asks the frame with {t: "sketch", id}, and content/sketch.js describes the visible
// part of the document as at most 400 boxes, bars in place of text, blocks in place of
// images, and lines, without what is marked data-private:
//
//	{t: "looked", id, sketch: {width, height, ground, shapes: [{t, x, y, w, h, r?, fill?, line?} | {t: "line", points, line}]}}
//
// Numbers and colors are untrusted too: page/pictures.js checks them and draws them as SVG.
// Sketches stay in the page's memory. A canvas that a person made private has none.
//
// # Limits
//
// A Handler limits how long a body can stall ([BodyTimeout]) and how long a client can
// take to read a file. A [ConnLimiter] limits the number of connections, so that clients
// without a token do not shut out others; the owner of
// the http.Server installs it.
//
// # Ownership
//
// A Handler is files in memory. It has no goroutine and no lock, and nothing to close.
//
// # Design notes
//
// single.html also allows style-src data:, for imports of style sheets, and has
// Connection-Allowlist. The layout is stored by instance id. A crashed frame raises no
// event, so each mount is pinged every 3 s. The http/1 window belongs to one canvas, not
// to all of them. A service worker reads a body as a Blob and not as a stream, because an
// app without chunked requests needs its length. It is not shown the Last-Event-ID, so
// shim.js sends it. An app's X-Frame-Options, frame-ancestors and reporting headers are
// dropped: a canvas is always framed. Below localhost each content host is a site, so the
// outer frame does not ask for an origin-keyed agent cluster: its service worker would run
// in another process.
//
// The package imports ahp and ahp/remote. Its tests use canvas/host, canvas/provider/loopback and
// canvas/view, and the browsers of canvas/web/webtest, one of each kind for all tests.
package web
