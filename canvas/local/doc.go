// Package local shows canvases without the page: it follows a session of a host as an
// AHP client and serves each open canvas at a loopback url, for apps that can only embed
// local urls. A canvas of a remote host, also one behind a relay, then works like a local
// web app.
//
// # Guarantees
//
//   - Each canvas has its own port, and so its own origin: canvases cannot reach each
//     other. The url stays the same while the canvas is open, even if the connection is
//     lost; afterwards nothing listens there.
//   - A canvas whose provider answers http/1 is that app: each request goes over the
//     bridge, with its method, status, headers and streams. Any other canvas is read, and
//     takes part by view/1: each page that loads canvas.js is a View with its own
//     connection, which ends with the page.
//   - A canvas can reach the same addresses as in the page (only its own origin), by the
//     same headers. Cookies of the app stay at the host.
//   - A request must name exactly the port's host (421), and must not come from another
//     origin (403), except for navigations, so that other pages can embed the canvas.
//     As with any loopback app, each local user who can connect to the port can see the
//     canvas.
//   - Each failure has a status and a text for people.
//
// # Ownership
//
// [Run] owns a panel for each open canvas. A panel owns its listener, the connection
// that follows its channel, and the http/1 client, which ends with that connection and
// when the canvas becomes stale. Run returns when all have ended.
//
// # Direct urls
//
// A url that is not channel content (https, or a loopback app on the host's machine) is
// passed on unchanged.
//
// The package imports canvas/client, canvas/bridge, canvas/standalone, canvas/web (headers),
// canvas, session and ahp.
package local
