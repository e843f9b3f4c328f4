// Package local shows canvases without the page: it follows a session of a host as an
// AHP client and serves each open canvas at a loopback url, for apps that can only embed
// local urls. A canvas of a remote host, also one behind a relay, then works like a local
// web app.
//
// It stays beside the addresses that a host's listener has for canvases (package gateway):
// those work only where that listener can be reached, so not through a relay, and only for
// apps that know names below localhost. What serves a canvas is the same gateway, here with
// the content and the messages of a client.
//
// # Guarantees
//
//   - Each canvas has its own port, and so its own origin: canvases cannot reach each
//     other. The url stays the same while the canvas is open, even if the connection is
//     lost; afterwards nothing listens there.
//   - The url has a secret, for which a browser gets a cookie. Other users of the machine
//     who find the port cannot see the canvas. Browsers send the cookie to every port of
//     127.0.0.1; it opens only this one.
//   - Everything else is as package gateway has it: the headers, the checks of a request,
//     http/1 for a provider that answers it, view/1 for all others, and texts for people.
//
// # Ownership
//
// [Run] owns a panel for each open canvas. A panel owns its listener, the connection
// that follows its channel, and its gateway. Run returns when all have ended.
//
// # Direct urls
//
// A url that is not channel content (https, or a loopback app on the host's machine) is
// passed on unchanged.
//
// The package imports canvas/client, canvas/gateway, canvas/web (connection limits), canvas,
// session and ahp.
package local
