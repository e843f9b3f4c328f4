// Package server is the only place where peers meet the log: it opens
// connections (initialize, reconnect), subscribes, dispatches, and remembers of
// a client what outlives its connection. What the channels mean it does not
// know: kinds stand in the log, and every other method is a row that it is
// handed, so a new kind or command does not edit it.
//
// # Order
//
// A connection's requests and notifications are handled in the order in which
// they came. An answer that carries a snapshot is queued inside the transaction
// that took the snapshot, so that the envelopes after it are exactly those
// above its fromSeq. Rows that wait ([Method.Waits]) leave that order: canvas flows
// and content reads.
//
// # The handshake
//
// Before initialize or reconnect has succeeded there is nothing but ping; every other
// request is refused and a notification is dropped (ahp-host.md section 2a). A
// connection for which that takes longer than Options.Handshake is closed with
// ws.CodePolicy, pings or not: who has a token does not hold a place for ever without
// being a client that is known and counted.
//
// # What outlives a connection
//
// Per client id: negotiated version, capabilities, a bookmark of its
// subscriptions, the grace timer (30 s, then its active-client entries leave)
// and the time at which it is forgotten (10 minutes; 4,096 absent clients at
// most, the longest absent leaves first). The newest connection of a client id
// is the one that counts, with the capabilities that it declared; an older one that
// is still open keeps working, counts again when the newer one has ended, and its end
// does not evict the client. Each connection sees what it declared itself to see.
//
// After a restart of the host, [Server.Expect] lists who took part before: their
// grace begins, and they initialize anew, for there is nothing to reconnect from.
//
// # Requests to clients
//
// [Server.Call] asks a client on its newest connection, once or not at all; the
// end of that connection fails the call at once. [Connectivity] hears when a
// client's last connection ended and when it is back, the latter once its
// handshake's answer is queued; and of every end that leaves it another connection,
// for the capabilities of that one count now.
//
// It imports channels, ahp/peer, ahp/ws and ahp.
package server
