// Package ahptest is the test kit: an in-memory network that a test can freeze
// and cut, HTTP servers for the length of a test ([Serve], [Kept]), a proxy that
// nobody may look for ([WithProxy]), gates for leaked goroutines and descriptors, and
// what the process has used of the processors ([CPU]).
//
// Everything waits on conditions and timers that are made where it is used, so
// a whole stack (net/http, the WebSocket, the peer) runs inside a
// testing/synctest bubble, where a keep-alive of a minute takes no time. A Net
// that is used in a bubble must be made in it.
//
// It is imported by tests alone, and imports the standard library alone.
package ahptest
