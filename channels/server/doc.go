// Package server connects peers with the log. It handles the methods of the
// connection itself: handshake, subscriptions, dispatch and reconnect. It also
// remembers the part of a client's state that outlives a connection. All other
// methods are rows that it is given, and the kinds of channels are the log's, so a
// new kind or method does not change this package.
//
// # Order
//
// The requests and notifications of a connection are handled in the order in which
// they arrive, except for methods that may block ([Order]). An answer with a snapshot
// is queued in the transaction that took the snapshot, so the envelopes after it are
// exactly those above its fromSeq.
//
// # Handshake
//
// Until initialize or reconnect succeeds, only ping is answered; other requests are
// refused and notifications dropped (ahp/PROTOCOL.md section 2a). If that takes
// longer than Options.Handshake, the connection is closed with ws.CodePolicy, so that
// a holder of a token cannot occupy connections without a client id.
//
// # Clients
//
// For each client id, the server keeps the negotiated version, the capabilities, a
// bookmark of the subscriptions, and two timers. When the last connection has ended,
// the grace period begins (30 s); after it, Presence is notified. After 10 minutes
// the client is forgotten. At most 4,096 clients without a connection are remembered;
// beyond that, the one that left first is forgotten.
//
// If a client has several connections, the newest determines its capabilities and
// receives the host's requests. When it ends, the next older one replaces it. Each
// connection receives what it declared itself to see.
//
// After a restart of the host, [Server.Expect] adds the clients from before. Their
// grace period begins, and they must initialize again, because there is nothing to
// resume.
//
// # Requests to clients
//
// [Server.Call] sends a request on a client's newest connection, at most once; if the
// connection ends, the call fails at once. [Connectivity] is notified when a client's
// last connection has ended and when the client is reachable again.
//
// The package imports channels, ahp/access, ahp/budget, ahp/heavy, ahp/peer, ahp/ws and ahp.
package server
