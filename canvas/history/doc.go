// Package history keeps what happened in the sessions of a host, for people: which canvas
// an agent opened, what a person did in it, and who closed it (canvas/PROTOCOL.md
// section 7.5).
//
// # Guarantees
//
//   - A session has at most 256 entries, and one canvas at most half of them: the oldest
//     make space. The same thing done again within a minute by the same actor is counted
//     in one entry.
//   - Entries are in the store at most 50 ms later, and survive a restart. They end with
//     their session.
//   - Texts are one line each, and cut.
//
// Add never waits, so it may be called under any lock. The package has no goroutine other
// than the write-behind's.
//
// It imports canvas, channels and ahp.
package history
