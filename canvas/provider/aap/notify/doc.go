// Package notify tells agents about records by running a program, or by typing into the
// agent's tmux session. No shell is involved.
//
// # Guarantees
//
//   - A program is executed directly. Its arguments are the agent's id and name; the line
//     and a newline are its standard input; AAP_RECORD in its environment is the path of
//     the record's file. Nothing that a person or a page chose is an argument.
//   - [Tmux] types the line with send-keys -l, so no part of it is a key. Where a shell is in
//     the foreground of the session, it types echo and the line in quotes, so that the
//     shell does not run it.
//   - One notification at a time for an agent, in order, each for at most 10 s; then its
//     processes are killed. 256 wait for an agent; above that, the oldest is dropped.
//   - Notify never blocks. A failure is logged, once for each agent, without the line.
//
// # Ownership
//
// An agent with something to notify has a goroutine. Close ends the notification that
// runs, drops those that wait, and returns when all goroutines have ended.
//
// The package imports canvas/provider/aap.
package notify
