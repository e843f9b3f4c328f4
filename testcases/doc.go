// Package testcases is the contract as data, for people who test reducers and
// hosts in any language, and the Go code that reads and runs it: reducer
// fixtures (reducers/), values of every type on the wire (round-trips/),
// transcripts of real messages (transcripts/), and the table of layers.
// README.md states every rule of the formats; typescript/ is the same reducers
// in another language, which the tests run beside the Go ones.
//
// Tests and the conformance command import it; the host never does.
package testcases
