// Package relaykey is the file with which a host registers at a relay: "ahp-canvas relay
// token" writes it, and "ahp-canvas serve --relay-token-file" reads it.
//
// It imports only the vocabulary.
package relaykey
