// Package bridge is http/1: HTTP inside canvas/message, so that a page which can
// reach nothing but the host's channel still has its web app (canvas.md section
// 4, design/renderer.md sections 3 and 4). PROTOCOL.md beside this file is the
// wire, schema.json its JSON Schema, testdata/exchanges what another language can
// be tested with.
//
// [Server] is the host's side: a View's requests, answered by an
// http.RoundTripper. [Client] is the page's side in Go: an http.RoundTripper over
// messages.
//
// # What it promises
//
//   - Within a request everything is in order; requests do not wait for each
//     other. What a slow reader holds up is its own request.
//   - Memory is bounded: 512 KiB wait in each direction of a request (its window),
//     and what a request has sent of its own is one chunk: 32 KiB, or 48,000 bytes where the page takes those.
//   - What an app sends compressed is decoded as it comes, at most two codings deep,
//     with a window of 16 MiB each at most (8 for zstd).
//   - Message never waits for a View or for an app.
//   - Nothing is sent twice. A request that was lost is lost.
//   - cancel, and a View that goes away, reach the app at once.
//   - A failure ends one request, with a status and a plain word that holds no
//     url. The lane lives on, whatever was said on it.
//   - No cookie and no credential of the app leaves the host.
//
// # Ownership
//
// A request is one goroutine (stream.go), which alone sends its response, data
// and error; it ends with the request. Grants are sent from where bytes are taken:
// the app's transport, and Message. Server.Close ends all of them and waits; the
// RoundTripper must heed its request's context.
//
// Locks are leaves: Server.mu guards the lanes and their streams, a window and an
// inbox have one each. Nothing is sent and nobody is called while one is held,
// but for a stream's own output.
//
// # Departures from the design
//
//   - The lane from page to host has 512 KiB and not one MiB: base64 makes 700 KB
//     of them, and a provider's mailbox holds 1 MiB of encoded messages.
//   - The lane's window is a View's on one instance, not a connection's over all
//     canvases: a provider knows of no other.
//   - A response's first chunk waits at most 2 ms for the rest of a small body, so
//     that most answers are one message. An event stream's head waits for nothing.
//
// It imports canvas (View), channels (ConnID), ahp, segmentio/asm for base64, and
// brotli and zstd for what an app has only compressed.
package bridge
