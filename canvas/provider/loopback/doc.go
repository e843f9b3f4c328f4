// Package loopback makes a web app that runs on this machine a canvas: its pages
// talk to it through the canvas's channel (http/1, package bridge) and its
// resources are read there, so that it works on a machine that cannot reach it.
//
// [App] is one instance's way to one app; package extension builds on it.
// [Provider] is `serve --canvas-url name=http://127.0.0.1:3000`.
//
// # What it promises
//
//   - Only the configured origin is ever contacted: the dialer knows one address,
//     which must be of this machine, whatever a page, a redirect or the
//     environment's proxy says. Redirects are followed inside it by Read alone.
//   - One cookie jar an instance. No cookie of the app leaves the host. A jar holds
//     180 cookies of 4096 bytes each, and 256 KiB in all; where there are more, those
//     that ran out go first, then the one that was set longest ago (RFC 6265 asks for
//     50 of a domain).
//   - An app that refuses a connection is reported once, at once: seen by a
//     request, or by a TCP probe every 2 s. One that hangs is not: its request
//     fails with 504.
//   - A resource that did not change is not read twice: the app's ETag or
//     Last-Modified is the validator, and else a hash of the content.
//   - Nothing is sent to the app twice, but for a GET that a kept-alive connection
//     lost before an answer began, as in every browser.
//
// # Ownership
//
// An App ends with its handle or with Close, whatever comes first, and waits for
// its probe, its requests and the call of Unreachable. A Provider has one
// goroutine: the probe of all its instances, which also sees the app come back.
//
// # Departures from the design, and limits
//
//   - A fragment of the app's url is dropped: a content address has none.
//   - Secure cookies are sent, as browsers do to loopback addresses.
//   - localhost, 127.0.0.1 and [::1] are different origins, as in a browser.
//   - A direct url on [::1] is refused by the host: a page's policy cannot name it.
//   - document.cookie of a page is inert; an app that reads its own cookies there
//     does not find them. The exception are those that only go back in a header, as
//     proof that a request is of the app's own page (csrf or xsrf in their names):
//     a document gets a stand-in, for which the host puts the cookie into the header.
//
// It imports canvas, canvas/bridge and ahp.
package loopback
