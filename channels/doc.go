// Package channels is the log of a host: the state of every channel, one host-wide
// sequence of entries, the subscriptions, and a limited buffer for replay. It has
// no socket and is tested without one.
//
// # Order
//
// One mutex guards the log; [Log.View] and [Log.Update] hold it. Under it, an
// action is assigned its serverSeq, reduced, retained for replay and given to its
// recipients in one step, for all channels: serverSeq is host-wide, and a reconnect
// names one number for all subscriptions. Therefore:
//
//   - Every subscriber receives the entries of its channels in the order of serverSeq.
//   - A snapshot from [Tx.Subscribe] is followed by exactly the entries with a
//     serverSeq above its FromSeq. None is lost or repeated.
//   - The entries of one Update are a transaction: no other entry comes between them,
//     and no snapshot contains only some of them.
//
// A lock for each channel with an atomic sequence delivered envelopes out of order
// in every run of a measurement. So there is one lock, and little work is done
// under it.
//
// # Fan-out
//
// If a channel has few subscribers, they are given an entry's frame under the lock.
// If it has many, consecutive entries wait a few microseconds for a goroutine, which
// delivers them as one [Batch]; all connections write the same bytes. The batch is
// also delivered before anything that must come after it (see [Log.Flush]), so
// subscribers cannot tell the difference. The goroutine blocks on nothing but the
// sinks and then ends. A burst of entries to 1,000 connections is delivered up to
// 1.5 times as fast, with less CPU.
//
// # Under the lock
//
// Reducers and the other pure functions of a [Kind] (Permit, After, Redact) run under
// the lock, and so does the encoding of an envelope, which is shared by all
// recipients and by replay. A [Sink] is called under it: a Sink must not block, call
// the log, or take a lock that is held while the log is called. Effects run after
// the lock is released, in the order of the log, one at a time. They must not block;
// they start or feed work that another goroutine does.
//
// # States
//
// A published state is immutable. A reducer returns a new value that shares the
// unchanged parts. A snapshot refers to the state and is encoded outside the lock,
// once for each state and variant.
//
// # Visibility
//
// A subscriber receives an entry of its channel if it is in the entry's [Audience],
// and if it declared the capability of the entry's row or, for a row without one,
// negotiated a version that has the row. The same applies to replay. A client
// therefore sees gaps in serverSeq.
//
// # Persistence
//
// The log is in memory and never waits for a disk. A [Store] keeps records: package
// canvas and package session commit a change before they publish it, a [WriteBehind]
// commits what changes too often for that, and a [Sequence] reserves sequence numbers
// in blocks, so that serverSeq never goes back over a restart. Package storetest
// tests a Store.
//
// The package imports ahp, ahp/access, ahp/budget, ahp/heavy and the standard library.
package channels
