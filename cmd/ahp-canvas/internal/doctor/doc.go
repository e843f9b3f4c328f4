// Package doctor holds the command doctor, which checks everything between a canvas and
// the person who looks at it: folders, the running host, its endpoints and tokens, the
// origins of canvases, and the browser.
//
// # What it promises
//
//   - Each finding is printed as soon as it is known, with advice if something is wrong.
//   - A check changes nothing, except that endpoint files of hosts that were killed are
//     removed.
//   - It reaches the host the way the other commands do, through no proxy. The browser
//     sees a page of doctor's own that holds no token.
//
// It imports the WebSocket (ahp/ws), the agent's client (canvas/mcp), and packages reach,
// statedir, userdir and term.
package doctor
