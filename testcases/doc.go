// Package testcases is the contract as data, for people who test reducers and
// hosts in any language, and the Go code that reads and runs it: reducer
// fixtures (reducers/), transcripts of real messages (transcripts/), and the
// table of layers.
//
// Tests and the conformance command import it; the host never does.
package testcases
