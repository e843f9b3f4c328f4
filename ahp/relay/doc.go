// Package relay joins clients with a host that nobody can dial.
//
// The host dials out and stays registered over one control connection
// ([Uplink]). A client dials the relay ([Edge]) and names the host. The edge
// asks the host over the control connection to dial a connection back, a lane,
// and copies WebSocket messages between the two. It forwards and understands
// nothing: no JSON-RPC, no state of AHP, nothing that a restart could lose.
//
// # Three doors
//
//	GET /host/<host>   the host's control connection   a token of audience "host"
//	GET /lane/<lane>   the host's end of a lane        the lane's secret, once, within 10 s
//	GET /ahp/<host>    a client                        a token of audience "client"
//
// Each looks at Host (421), then at Origin (403), then at the token (401, 403
// where it is good for another host). /host and /lane are no place for a web
// page: they refuse every Origin. Tokens, and a lane's secret, stand in
// Authorization (Bearer) or, for browsers, in Sec-WebSocket-Protocol ("ahp,
// bearer.TOKEN"); in the query they are refused, except by a listener on
// loopback. The subprotocol that is chosen, where one is offered, is ahp. What is
// wrong after these checks is said by a typed close, because a browser sees the
// code of a close but not an HTTP status.
//
// # Messages of the control connection
//
// JSON texts, none above 4 KiB:
//
//	host: {"type":"register","generation":7}          edge: {"type":"registered"}
//	edge: {"type":"lane","lane":"…","secret":"…"}     host: {"type":"decline","lane":"…"}
//	either: {"type":"drain"}                          no new lanes, please
//
// The first message of a lane is the edge's {"type":"open","subject":"…",
// "clientId":"…"}: who the client is, by its token. Everything behind it is
// between client and host.
//
// # Promises
//
//   - A lane keeps order and is complete, or ends with a typed close. A message
//     that was cut is never completed.
//   - Flow control is TCP's, end to end: a client that does not read stops its own
//     lane at the host. The edge holds at most 64 KiB of each direction, 1 MiB of
//     four in the whole process, and no queue. Who takes nothing for 20 s is
//     closed (ws.CodeSlow).
//   - A host that is not registered is said at once ([CodeHostOffline]), except
//     by an edge that has just started (Coming back).
//   - A registration with a newer generation ends the older one and its lanes
//     ([CodeSuperseded]); the same generation takes over the control connection
//     and leaves the lanes, which do not need it.
//   - A secret opens one lane, once, and dies with the time to dial back.
//   - Lanes are counted per host and per client, and new ones have a rate.
//   - A token that is withdrawn or runs out ends what it opened.
//   - No token, secret or payload reaches a log, nor a header that goes on.
//
// # Coming back
//
// When a relay was killed and starts again, everybody finds it by himself. How
// long that takes after a start is bounded by how long it was away:
//
//   - Host and client each wait 0.2 s, and half as long again each time, up to 5 s
//     ([NewBackoff], client.NewBackoff), by half more or less: a wait is about half
//     of the time away, and never above 7.5 s. A connection that lasted 2 s begins
//     the waits anew; one that did not lets them grow, so that a relay that drops
//     everybody is not dialled more often than one that is away.
//   - A client that is there before its host is not told "host offline", after
//     which it would wait longer by itself: for the first 10 s (EdgeOptions.Settle)
//     an edge lets clients of hosts that it has not seen wait for them. So the two
//     waits do not add up. Such a client counts as a lane in every limit. A host
//     that the edge has seen, or one that has left it, is offline at once.
//
// # Who owns what
//
// [Edge] owns the goroutines of registrations and lanes (two for each lane);
// Close ends them and waits. [Uplink.Run] owns its own and its lanes' and
// returns when they have ended; a socket that it handed to Serve belongs to
// Serve, which must see to its end. The http.Server before an Edge bounds headers and
// idle connections (ReadHeaderTimeout, IdleTimeout), bodies that are announced and
// do not come: nobody reads them here, but the server does (canvas/web.BodyTimeout is one
// way), and how many connections there are before a token is shown (canvas/web.ConnLimiter).
// Behind that, MaxLanes, MaxHosts and 8 control connections a host bound them.
//
// # Departures from the design
//
// The design has "host offline" said at once. By an edge that was just started, to
// which no host has come back yet, that sent every client away for the longer wait: 5 to
// 20 s after a kill where half a second to 3 s are enough (Coming back).
//
// An end that takes nothing is closed after 20 s and not after the peer's 10 s:
// the host, which knows what its frames are worth, decides first. Nothing is read
// from a lane whose other end is slow, and that does not count as its silence.
//
// Host and lane stand in the path, so that a token for another host is refused
// before anything is upgraded. Metrics are numbers of [Edge.Stats], not
// Prometheus's types: a host program that embeds the uplink does not get that
// library, and cmd needs ten lines to hand the numbers over. The token file is
// looked at every two seconds instead of watched: it is replaced by renaming,
// which the watch of a file misses, and a stat costs nothing.
//
// The package imports ahp, ahp/ws, cenkalti/backoff and x/time/rate.
package relay
