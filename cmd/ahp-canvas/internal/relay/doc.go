// Package relay holds the command relay, which joins clients with hosts that have no
// reachable address, and relay token, which makes their tokens.
//
// # What it promises
//
//   - The relay keeps nothing: it can stop and start at any time.
//   - Beyond loopback it does not start without TLS and the address that people use.
//   - With --nats it is one edge of a fleet. When it stops, it first moves its connections to
//     the others.
//   - The token file holds hashes of tokens only. A change to it, and a renewed
//     certificate, take effect without a restart.
//
// It imports ahp/relay (the relay itself) with natsdir and signed, canvas/web (its page), and packages listener,
// relaykey, userdir and term.
package relay
