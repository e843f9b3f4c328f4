// Package bridge is http/1: HTTP inside canvas/message, so that a page that can only
// reach the host's channel can use its web app (canvas/PROTOCOL.md section 4). PROTOCOL.md
// in this package specifies the messages, schema.json is their JSON Schema, and
// testdata/exchanges are tests for implementations in other languages.
//
// ws/1 is the same for WebSockets (PROTOCOL.md section 9, ws.schema.json and
// testdata/sockets): [Sockets] is the host's side of it.
//
// [Server] is the host's side: it answers a View's requests with an http.RoundTripper.
// [Client] is the page's side in Go: an http.RoundTripper that sends messages.
//
// # Guarantees
//
//   - Messages of a request are in order, and requests are independent: a slow reader
//     delays only its own request.
//   - Memory is limited: up to 512 KiB are buffered for each request and direction (its
//     window), and one chunk of a response (32 KiB, or 48,000 bytes if the page allows it).
//   - Compressed responses are decoded while they arrive, with at most two codings and a
//     window of at most 16 MiB each (8 MiB for zstd).
//   - Message does not wait for a View or for an app.
//   - Nothing is sent twice. A lost request is not repeated.
//   - A cancel, and a View that disconnects, cancel the app's request at once.
//   - A failure ends one request, with a status and a text without URLs. Other requests
//     are not affected, whatever a page sends.
//   - HttpOnly cookies and credentials of the app do not leave the host.
//   - A WebSocket's messages are in order in both directions, and 256 KiB of each direction
//     are buffered (its window). A View has at most 64 WebSockets. A failure ends one of
//     them, with a code.
//
// # Ownership
//
// Each request has a goroutine (stream.go), which alone sends its response, data and error,
// and ends with the request. Grants are sent by the app's transport when it reads, and by
// Message. Server.Close cancels all requests and waits for them; the RoundTripper must end
// when its request's context is canceled.
//
// A WebSocket has a goroutine that alone sends opened, message and closed, and one that
// writes to the app; both end with it (socket.go). Sockets.Close waits for them.
//
// Server.mu guards the Views and their streams; each window and each body buffer has its
// own lock. Nothing is sent and no callback is called with one of them held. A stream's
// output has a lock that is held while sending.
//
// # Design notes
//
//   - The window from page to host has 512 KiB and not 1 MiB: base64 makes 700 KB of them,
//     and a provider's mailbox holds 1 MiB of encoded messages.
//   - A connection's window (PROTOCOL.md calls this a lane) belongs to one View of one
//     instance, because a provider does not know the View's other canvases.
//   - The head of a response waits at most 2 ms for a small body, so that most responses
//     are one message. An event stream's head is not delayed.
//
// The package imports canvas (View), channels (ConnID), ahp, segmentio/asm for base64,
// brotli and zstd for content codings, and gorilla/websocket for the app's WebSockets.
package bridge
