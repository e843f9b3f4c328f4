// Package natsdir lets several edges be one relay. A [Directory] finds hosts that are
// registered at other edges, over NATS.
//
// A host registers at one edge, a client arrives at another. The client's edge sends the
// offer of the lane to the edge that has the host, which passes it to the host, and the host
// dials the client's edge at its URL. Messages of lanes never cross NATS.
//
// # Subjects
//
// KEY is the SHA-256 of the host's name, in lower-case base32, and the prefix is ahp-relay
// unless Options.Prefix is another one. Payloads are JSON objects of at most 4 KiB with their
// version, "v":1. Unknown members are ignored.
//
//	PREFIX.host.KEY   request: an offer      answer: the registration's generation, or why not
//	PREFIX.reg.KEY    a registration was made at an edge, or still stands
//	PREFIX.edge       an edge runs (every Options.Heartbeat), or drains
//
// Only the NATS account authenticates them. Who may publish there can send hosts to any URL
// that Options.Edges allows, with a lane's secret, and can end registrations and lanes. It
// cannot read or change what passes through lanes.
//
// # Guarantees
//
//   - A host at this edge is reachable from this edge, whether NATS is or not.
//   - If no edge has the host, Signal returns relay.ErrOffline as fast as NATS answers: it
//     says that nothing subscribes to the host's subject. While hosts move between edges that
//     can be wrong, so Unsettled has the time of the last event that moves them: this edge
//     started or was cut off, another edge started or drains, or a lost edge is back.
//     The kill of an edge is no such event: its hosts are offline until they have registered again.
//   - If NATS cannot be reached, or an edge does not answer within 2 s, Signal returns
//     relay.ErrUnavailable: the host might be registered or not.
//   - Of two registrations of a host, the one with the lower generation ends, at whichever
//     edges they are; of two with the same generation, the earlier connection. If NATS was
//     partitioned when they were made, that happens when the edges reach each other again:
//     each then announces its registrations, at times spread over Options.Spread.
//     Until then either can receive a lane.
//   - Announcements and offers that an edge takes too slowly are dropped (Stats.Dropped). An
//     offer then ends with relay.ErrUnavailable.
//   - Neither secrets nor NATS credentials reach the log.
//
// It imports relay, ahp and the NATS client.
package natsdir
