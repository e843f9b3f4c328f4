// Package local is a renderer without a page: it follows a session of a host as an
// AHP client and offers each open canvas at a loopback url of its own, for apps
// that embed only those. What stands behind the host, or behind a relay, is then
// as near as any local web app.
//
// # What it promises
//
//   - Every canvas has a port of its own, and so an origin: one cannot reach
//     another. The url stays the same while the canvas is open, also over a lost
//     connection; after that nothing listens there.
//   - A canvas whose provider answers http/1 is that app: every request goes over
//     the bridge, with its method, status, headers and streams. Any other is read,
//     and takes part by view/1: each page that loads canvas.js is a View of its
//     own, with a connection of its own that ends with it.
//   - What a canvas may reach is what it may in the page: its own origin, by the
//     same headers. Its cookies stay at the host.
//   - A request must name exactly the port's own host (421), and one that another
//     origin makes a page send is refused (403); only navigations may come from
//     elsewhere, for that is what embedding is. Whoever can open ports on this
//     machine can look at the canvases, as with any loopback app.
//   - Blank is never an answer: what cannot be had has a status and plain words.
//
// # Who owns what
//
// [Run] owns a panel for each open canvas; a panel owns its listener, the
// connection that follows its channel, and the lane of the bridge, which ends with
// that connection and with the canvas's availability. Run returns when all have
// ended.
//
// # Departures
//
// A url that is not channel content (https, or a loopback app of the host's own
// machine) is passed on as it is: nothing here could make it better.
//
// It imports canvas/client, canvas/bridge, canvas/web (headers and scripts),
// canvas, session and ahp.
package local
