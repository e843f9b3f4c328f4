// Package relay connects clients with a host that has no reachable address.
//
// The host dials out and stays registered over one control connection
// ([Uplink]). A client dials the relay ([Edge]) and names the host. The edge asks
// the host, over the control connection, to dial a second connection back, called
// a lane, and copies WebSocket messages between the two. It reads neither
// JSON-RPC nor AHP and keeps no state that a restart could lose.
//
// Several edges can be one relay, a fleet: see README.md, [Fleet] and package natsdir. README.md
// also names the guarantees below that do not hold for a fleet.
//
// # Endpoints
//
//	GET /host/<host>   the host's control connection   a token of audience "host"
//	GET /lane/<lane>   the host's end of a lane        the lane's secret, once, within 10 s
//	GET /ahp/<host>    a client                        a token of audience "client"
//
// Each checks Host (421), then Origin (403), then the token (401, or 403 if the
// token is for another host). Web pages have no use for /host and /lane, so these
// refuse every Origin. Tokens, and a lane's secret, are sent in Authorization
// (Bearer) or, by browsers, in Sec-WebSocket-Protocol ("ahp, bearer.TOKEN"). A
// token in the query is refused, except on a loopback listener. If a client
// offers subprotocols, the edge selects ahp. Errors after these checks are
// reported by a close code: a browser can read the code of a close, but not an
// HTTP status.
//
// # Messages of the control connection
//
// JSON texts of at most 4 KiB:
//
//	host: {"type":"register","generation":7,          edge: {"type":"registered",
//	       "connection":2}                                   "edges":"wss://*.relay.example"}
//	edge: {"type":"lane","lane":"…","secret":"…"}     host: {"type":"decline","lane":"…"}
//	host: {"type":"drain"}                            offer no new lanes
//	edge: {"type":"drain"}                            register elsewhere
//
// The first message of a lane is the edge's {"type":"open","subject":"…",
// "clientId":"…"}, which identifies the client by its token. All further messages
// are between client and host: text messages, or binary ones that the two have sealed
// (package seal), which the edge cannot read.
//
// In a fleet the first message also has "client", a name for the client's token, and "lanes",
// how many lanes that token may have at all edges. A lane then names its edge ("edge"), which
// the host dials only if the answer to its registration lists it, and UplinkOptions.Edges, if
// set, does too.
//
// # Guarantees
//
//   - A lane delivers every message in order, or ends with a close code. The edge
//     never completes a message of which it received only a part.
//   - Flow control is TCP's, end to end: a client that does not read blocks only
//     its own lane at the host. The edge has no queue. It buffers at most 64 KiB
//     per direction of a lane, and up to 1 MiB for at most four directions in the
//     process. It closes an end that takes no data for 20 s (ws.CodeSlow).
//   - A client of a host that is not registered is refused at once
//     ([CodeHostOffline]), except by an edge that has just started (see
//     Reconnecting).
//   - A client that disconnects while it waits for its host frees its place at once,
//     unless it sent more than 4 KiB before.
//   - A registration with a newer generation ends the older one and its lanes
//     ([CodeSuperseded]). One with the same generation replaces the control
//     connection and keeps the lanes, which do not depend on it.
//   - A secret opens one lane, once, and expires with the time to dial back.
//   - Lanes are limited per host, per token and per address, and so is the rate of new
//     ones. A link is one token, which a team of 50 can share; one address has at most half
//     of its lanes. Behind a proxy that EdgeOptions.Proxies does not name, and on loopback,
//     addresses say nothing and are not limited.
//   - A client names the link that it opened by a random id ("opened.ID" among its
//     subprotocols), so that the edge distinguishes the people behind one address. If the address or
//     the token has no lane left, someone with fewer lanes takes one of those who have most,
//     which ends with CodeTooMany. An address can name 64 links at once and one more every
//     five seconds; its further clients, and those that name none, count as one. An attacker
//     at the same address who opens a link slowly for minutes can thus look like a team.
//   - The host gets a name for the token, the address and the opened link
//     (LaneInfo.Person), to limit each person too.
//   - Withdrawal or expiry of a token ends every connection that it opened.
//   - An edge that drains ([Edge.Drain]) notifies the host on each lane, if there are
//     other edges, by a ping with the payload "ahp-relay drain" that does not reach the client.
//     If the host answers by a ping "ahp-relay moves", the client has 35 s to leave the lane
//     itself, once it has another one. Otherwise
//     ("ahp-relay stays", or no answer in 5 s) the edge closes the lane once the host spoke last
//     and the lane was silent for 250 ms, or the client for 5 s without an answer. Nothing that
//     the client sends from then on reaches the host.
//   - Tokens, secrets and payloads never reach a log or a forwarded header.
//
// # Reconnecting
//
// After a relay was killed and restarted, hosts and clients reconnect
// automatically. The time that this takes depends on how long the relay was down:
//
//   - Host and client each wait 0.2 s before the next attempt, then 1.5 times as
//     long each time, up to 5 s ([NewBackoff], client.NewBackoff), and vary each
//     wait at random by up to half. A wait is therefore about half of the outage,
//     and at most 7.5 s. A connection that lasted 2 s resets the waits. A shorter
//     one does not, so a relay that drops every connection is not dialed more
//     often than one that is down.
//   - For the first 10 s (EdgeOptions.StartupGrace) an edge keeps clients of hosts
//     that have not registered yet waiting, instead of refusing them with "host
//     offline", after which they would back off longer. So the two waits do not
//     add up. A waiting client counts as a lane in every limit. A host that has
//     registered since the start and left again is offline at once.
//
// # Ownership
//
// [Edge] owns the goroutines of registrations and lanes (two per lane); Close
// ends them and waits. [Uplink.Run] owns its own and its lanes' goroutines and
// returns when they have ended; a socket that it passed to Serve belongs to Serve,
// which must close it.
//
// The http.Server in front of an Edge must limit headers and idle connections
// (ReadHeaderTimeout, IdleTimeout), request bodies that are announced but never
// sent (the server reads them although this package does not; package canvas/web
// has a handler for it), and the connections that have not presented a token yet. The
// limiter of canvas/web does that so that an address that opens many shuts out only
// itself. From there on MaxLanes, MaxHosts and 8 control connections per host are the
// limits.
//
// # Design choices
//
// The edge closes an end that takes nothing after 20 s, a host after 10 s: the
// host, which knows what a frame is worth, decides first. While an end is slow,
// the edge does not read from the other one and does not count its silence.
//
// Host and lane names are in the path, so a token for another host is refused
// before the connection is upgraded. [Edge.Stats] returns plain numbers, so a
// program that embeds the uplink does not link a metrics library. The token file
// is polled every two seconds, because it is replaced by renaming, which a watch
// on the file misses.
package relay
