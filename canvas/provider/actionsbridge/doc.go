// Package actionsbridge is the agent's side of the Actions Bridge Protocol: browser pages
// ("runtimes") connect to a [Bridge], which routes each call to exactly one of them,
// checks what goes in and comes out, and names each failure with a stable code. The
// package is usable alone, with net/http; package bridgecanvas makes the pages canvases of
// a host.
//
// # Guarantees
//
//   - A call reaches exactly one runtime, or none. It is sent at most once, and it ends
//     exactly once: with a value, with an *[Error], or when its context ends.
//   - A runtime that neither showed a token nor comes from a configured origin waits until
//     [Bridge.Judge] allows it. Until then nothing is sent to it except the protocol's
//     ping, and no event of it is reported.
//   - A web page speaks for URLs of its origin only.
//   - Nothing is called from an invalid manifest. Arguments, results and events are checked
//     against the manifest's schemas, at a bounded cost.
//   - The items of a connection are handled in order: [Bridge.Watch] reports an event that
//     came before an output before the call returns.
//   - Every queue, table and item is limited ([Limits]).
//   - No URL, argument, payload, token or authorization id is logged.
//
// # Ownership
//
// A Bridge has one goroutine, for pings and deadlines of connections; [Bridge.Close] ends
// it and closes all connections. A Transport belongs to its caller, which calls
// [Conn.Receive] for each item, one at a time, and [Conn.Close] at the end.
//
// # Where to look
//
// item.go decodes, manifest.go reads manifests, strict.go checks files, conn.go handles
// items, route.go selects a runtime, call.go calls, events.go reports, access.go decides
// who is let in, door.go is the HTTP endpoint.
//
// The package imports ahp, ahp/ws and canvas/jsonschema.
package actionsbridge
