// Package process runs a child program with pipes for its standard streams, together with
// the processes that it starts.
//
// # Guarantees
//
//   - A program leads a process group (a job object on Windows). When it exits, the group's
//     remaining processes are killed. A child that leaves the group is not found.
//   - [Process.End] closes standard input, sends SIGTERM to the group half a second later,
//     and SIGKILL two seconds after that.
//   - On Linux the kernel kills the program when the host is killed: a [Starter] starts
//     programs on one thread, and PR_SET_PDEATHSIG is tied to that thread. On Windows the
//     system ends the job with the host.
//   - Standard error is always read, so a program never blocks on it. It goes to a [Log],
//     which has at most 512 KiB, and its end to [Words], for error messages. Neither waits
//     for the disk: a flood loses lines, and the log notes how many bytes.
//
// # Ownership
//
// A Process has one goroutine that reads standard error and ends with it. Its owner calls
// [Process.Wait] once, stops its own reader and writer, and then calls Release. A Log has
// one goroutine, which Log.Close ends; a Starter has one thread, which Starter.Close ends.
//
// The package imports cenkalti/backoff and, on Windows, golang.org/x/sys, and nothing of
// this module.
package process
