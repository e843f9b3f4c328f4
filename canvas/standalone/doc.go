// Package standalone has what a canvas needs at a separate http address, without the
// page of package web: who may send requests there, the first script of its documents, the
// endpoints by which its pages take part in view/1, and texts for failures.
//
// # Guarantees
//
//   - Another web page can show a canvas in a frame, and can send it nothing else.
//   - Each page that loads canvas.js is a View with a separate connection, which ends
//     with the page. One canvas has at most 64.
//   - A page that sends messages without end is replaced by a text (/.ahp/stopped).
//   - Each failure has a status and a text for people.
//
// # Ownership
//
// [Views.Serve] runs in the goroutine of its request. The connection that it opens, and the
// goroutine that waits for its end, are gone when it returns.
//
// The package imports canvas, canvas/client, canvas/web (scripts), and ahp.
package standalone
