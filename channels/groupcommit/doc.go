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
// The package imports only the standard library.
package groupcommit
