// Package seal encrypts the connection between a client and a host, so that a relay
// between them cannot read or change it.
//
// The host has a static X25519 key. Its public key is in the link, in the part behind the #
// that browsers send to no server. Client and host run Noise_NK_25519_AESGCM_SHA256 with
// the prologue "ahp-canvas seal/1\n" and the host's name: the client's message, then the
// host's, each a binary WebSocket message with an empty payload. Then the connection is a
// sealed one of package ws, each of whose frames is a Noise transport message.
//
// # What it promises
//
//   - The client talks to the holder of the private key, or to nothing. A connection never
//     falls back to clear text.
//   - Each text message arrives as it was sent, once and in order, or the connection ends
//     with [ws.CodeSealBroken]: a frame that was changed, repeated, moved, cut or left out
//     does not decrypt in its place. Nothing is delivered behind it.
//   - Keys last for one connection (forward secrecy), and for at most 2^20 frames or 1 GiB
//     in a direction: then both ends derive the next ones.
//   - No data is sent before the handshake is complete.
//
// # What it does not hide
//
// Lengths and times of messages, who connects from where, and the close code and reason of
// the WebSocket, which a relay can also invent. A relay can end or delay a connection. The
// host does not learn from the handshake who the client is: the token that it shows inside
// the sealed connection says that.
//
// # Limits of a handshake
//
// 10 seconds, 1 KiB a message. A wrong key, a wrong name and random bytes have the same
// answer. After 20 failures a minute of one holder the host closes its connections at once.
//
// The package imports ahp/ws and flynn/noise, and neither ahp/relay nor ahp/peer.
package seal
