// Package gateway serves each open canvas at a separate http address, on the listener of
// the host: for clients that show a url in a frame, and for the page where it reaches the
// host without a relay.
//
//	http://g-<32 hex digits>.localhost:PORT/path?query&~t=<secret>      on loopback
//	https://g-<32 hex digits>.canvas.example/path?query&~t=<secret>     with a pattern of content origins
//	http://127.0.0.1:PORT/path?query&~t=<secret>                        with Options.Host, for one canvas
//
// # Guarantees
//
//   - Each open canvas has an origin that no other canvas has, and a secret. [Gateway.Address]
//     makes both new when the canvas is opened, when its provider returns after it was
//     stale, and when the host starts; with Options.Host they last as long as the Gateway. [Gateway.Page] keeps an origin that a browser names,
//     for one canvas only, and makes a new secret.
//   - A request with the secret in ~t is redirected to the same address without it, with
//     two cookies (Lax, and None; Secure; Partitioned, which a browser sends in a frame of
//     another site). Every other request needs a cookie (401).
//   - A request must name the canvas's exact host (421). Requests that other origins send,
//     and those of other sites that are not navigations, are refused (403).
//   - Each response, an upgrade and an error included, has the headers that restrict a
//     canvas to its own origin, and none of the app's that reach beyond it. A canvas can be
//     framed by any page.
//   - The provider sees no cookie of the gateway, and the app no Host, Origin or Referer but
//     its own.
//   - Addresses are in memory only. No log, error or event has one.
//   - A canvas has at most 256 requests at a time, which end when it becomes stale or is
//     closed, and with [Gateway.Close].
//   - A label whose canvas is closed is answered with Clear-Site-Data, and so is the page's
//     request to clear what a label stored (/.ahp/clear.html), which needs no cookie.
//
// # Three kinds of content
//
// A canvas whose provider is a canvas.WebApp receives the requests themselves: streams,
// uploads, ranges and WebSockets pass as they arrive. One that answers http/1 only, such
// as a client's, receives http/1 messages of a View of the gateway; its WebSockets are refused (501). Any other canvas is read
// (canvas.Reader), and its pages take part in view/1 (package standalone).
//
// # Ownership
//
// A request is served in its own goroutine. The gateway has one goroutine for each http/1
// connection to a provider, which ends with the canvas. Close ends them, and the requests,
// and waits.
//
// The package imports canvas, canvas/allow, canvas/bridge, canvas/client, canvas/standalone,
// canvas/web and ahp. It knows neither the log nor the engine.
package gateway
