// Package budget is a host's ledger of memory: every holder of bytes that clients
// control takes them from it and gives them back.
//
// # What it promises
//
//   - A [Ledger] counts bytes by [Kind]. What several connections hold together, such as
//     an action that all of them receive, counts once ([Shared]).
//   - Each connection has an [Account], and each token has a share that its connections
//     have in common. So one holder cannot use up what all need.
//   - Above the soft limit, half of the budget, the ledger empties caches
//     ([Ledger.OnPressure]), and then closes the connections that hold most for the longest
//     time ([Holder]).
//     Connections that hold little are never closed.
//   - Above the hard limit, three quarters of the budget, [Account.Take] returns
//     [ErrFull]: new work waits ([Account.Wait]) or is refused. The last quarter is
//     reserved for memory that the ledger does not count: garbage, stacks and buffers.
//   - A kind has a share too: [Ledger.Share]. The caller compares.
//
// # Cost
//
// Taking and giving are a few atomic operations and no lock, so they may be called under
// any lock. Holders of few bytes do not call at all: a connection's queue is counted from
// 64 KiB on, a message from 16 KiB. So an idle connection costs its Account, and an
// action for many connections costs nothing while they keep up.
//
// A nil Ledger or Account counts nothing and refuses nothing.
//
// The package imports the standard library only.
package budget
