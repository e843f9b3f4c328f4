// Package groupcommit lets concurrent callers share one expensive step, such as
// a commit that ends with a sync: doing it once for many costs little more than
// for one.
//
// # Guarantees
//
//   - A caller that finds the queue empty leads at once, in its own goroutine. No
//     other goroutine is woken for it.
//   - A caller that comes while another leads waits. The first waiter leads next,
//     and takes as many of the waiters after it into its group as it wants.
//   - There is one leader at a time. It may pass the lead on before it has finished
//     its group, so that the next group's work begins meanwhile.
//   - A waiter whose context ends leaves the queue, unless it leads or was taken
//     into a group already.
//
// A Queue starts no goroutine and does not know what the work is.
//
// # Why not a writer goroutine
//
// One goroutine that receives from a channel is less code, and as fast under load:
// with 64 callers a commit of package sqlitestore takes 0.05 times a raw sync
// either way. But a lone caller then waits for two goroutine switches, and most
// commits are alone: 1.35 raw syncs instead of 0.9 (medians of eight runs of
// BenchmarkCommit, on two busy cores). golang.org/x/sync has nothing that groups
// different requests: singleflight shares the result of equal ones.
//
// The package imports only the standard library.
package groupcommit
