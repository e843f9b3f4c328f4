// Package loopback makes a canvas of a web app that runs on this machine. The app's pages
// reach it through the canvas's channel (http/1 and ws/1, package bridge), and its resources are
// read there, so it also works where the app's address cannot be reached.
//
// [App] connects one instance to one app; package extension builds on it. [Provider] is
// `serve --canvas-url name=http://127.0.0.1:3000`.
//
// # Guarantees
//
//   - Only the configured origin is contacted. The dialer knows one address, which must
//     be of this machine, whatever a page, a redirect or a proxy variable says. Only
//     Read follows redirects, within the origin.
//   - Each browser has a cookie jar in an instance, at most 64, or all share one
//     ([Options.SharedCookies]). No HttpOnly cookie of the app leaves the host. A jar holds
//     180 cookies of at most 4096 bytes, and 256 KiB in all. Beyond that it evicts
//     expired cookies first, then the one that was set longest ago (RFC 6265 asks for 50
//     per domain).
//   - An app that refuses a connection is reported once, immediately: a request or a TCP
//     probe every 2 s notices it. An app that hangs is not reported; its requests fail
//     with 504.
//   - An unchanged resource is not read twice. The validator is the app's ETag or
//     Last-Modified, or else a hash of the content.
//   - No request is sent to the app twice, except for a GET on a kept-alive connection
//     that breaks before the response begins, as in every browser.
//
// # Ownership
//
// An App ends with its handle or by Close. Both wait for its probe, its requests and the
// call of Unreachable. A Provider has one goroutine, which probes the app for all
// instances and also notices its return.
//
// # Behavior and limits
//
//   - The fragment of the app's url is dropped: a content address has none.
//   - Secure cookies are sent, as browsers do to loopback addresses.
//   - localhost, 127.0.0.1 and [::1] are different origins, as in a browser.
//   - The host rejects a direct url on [::1], because a page's policy cannot name it.
//   - A page's document.cookie reads and writes the jar, but for HttpOnly cookies. The page
//     that shows the canvas does that with requests to /.ahp/cookies, which the app does not
//     get (canvas/bridge/PROTOCOL.md section 6).
//   - A read of content has no browser, so it has cookies only if all browsers share a jar.
//
// The package imports canvas, canvas/bridge and ahp.
package loopback
