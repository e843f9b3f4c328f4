// Package testcases has the test data of the protocol, for reducers and hosts in
// any language, and Go code that reads and runs it: reducer fixtures (reducers/),
// values of every type on the wire (round-trips/) and transcripts of real messages
// (transcripts/). README.md specifies the formats. typescript/ has the reducers in
// another language, which the tests compare with the Go ones.
//
// Tests and the conformance command import this package; the host never does. A
// test of this package also checks which package of the module may import which.
package testcases
