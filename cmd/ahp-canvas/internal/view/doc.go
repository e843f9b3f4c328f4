// Package view holds the command view, which shows a host's canvases outside a browser
// page: as URLs of this machine, or, with --native, a text file as a canvas.
//
// # What it promises
//
//   - The token of a link is sent to the link's host alone.
//   - --native never overwrites what another program wrote to the file, and never drops
//     text that is not saved unless the agent asks for it.
//   - Ctrl-C is the usual end and not a failure.
//
// It imports the Go client, the renderer without a page (canvas/local), the parts of ahp
// that explain a refused connection, and packages reach and term.
package view
