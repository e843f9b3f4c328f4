// Package channels is the log: every channel's state, one host-wide sequence,
// who is subscribed to what, and a bounded buffer for replay. It has no socket
// and can be tested with no wire.
//
// # The law of order
//
// There is one mutex, which [Log.View] and [Log.Update] hold. Assigning a serverSeq, reducing,
// keeping the entry for replay and settling who hears it is one step under that
// mutex, across all channels, because serverSeq is host-wide and reconnect names
// one number for all subscriptions. It follows that:
//
//   - every subscriber sees its channels in the order of serverSeq;
//   - a snapshot that is taken by [Tx.Subscribe] is followed by exactly the
//     envelopes with a serverSeq above its fromSeq, none lost, none repeated;
//   - several appends in one Update are one transaction: nobody sees a part of it,
//     nothing of another transaction stands between them.
//
// A lock per channel with an atomic sequence was measured and delivered
// envelopes out of order in every run; so one lock, and little work under it.
//
// Few subscribers are handed a frame in that step. Where they are many, entries of
// one channel that follow each other wait for a goroutine that is on its way, a few
// microseconds, and are handed over together as a [Batch], whose bytes all
// connections share. It waits for nothing but the sinks, and ends, so nobody waits
// for it. Nothing can tell: who would put something before them settles first, the
// log by itself (fanout.go), and a connection with [Log.Settle].
// With a push for each action and connection, bursts of 32 to 1,000 subscribers
// took twice the CPU.
//
// # What runs under the lock
//
// Pure reducers ([Kind].Reduce, Permit, After, Redact), the encoding of an
// envelope (once, shared by all recipients and by replay), and the calls of a
// [Sink], which must not block, call back or take a lock that is held while calling
// the log; those of a Batch come under a lock of their own, below the log's. Effects run after the lock, in the order of the log, one at a time; they
// must not wait, but start or feed a flow that somebody else owns.
//
// # States are values
//
// A state that was published is immutable. A reducer returns a new value and
// shares what did not change; snapshots hold the pointer and are encoded outside
// the lock, once per state and variant.
//
// # Audience and gate
//
// An entry goes to the subscribers of its channel that (a) declared the
// capability of its row (else: negotiated a version that knows the type) and
// (b) are in its [Audience]. Replay applies the same filter. Gaps in serverSeq
// are legal.
//
// # What outlives the process
//
// The log is memory and never waits for a disk. A [Store] keeps records: flows of
// the floors above commit to it before they publish, [WriteBehind] follows with what
// changes too often to be waited for, and [Sequence] reserves sequence numbers in
// blocks, so that serverSeq never goes back. Package storetest is what every
// Store must pass.
//
// The package imports ahp and the standard library.
package channels
