// Package reach finds the host that a command is about, and calls its tools.
//
// A running host publishes an endpoint file PID.json, which holds its tokens, in the
// user's runtime folder. The host that started last is the default; --host chooses
// another one by its name, process id, port or URL.
//
// # What it promises
//
//   - Only the user can read an endpoint file. It is removed with its host; files of
//     processes that have ended are removed by the next command that looks.
//   - If several hosts run and the command line names none, a person at a terminal
//     reads which one was taken. A name that several hosts have is an error.
//   - A token is never sent to a process that merely has the process id or the port of a
//     host that was killed.
//
// It imports the agent's client (canvas/mcp), canvas for its errors, the lock, the
// vocabulary, and packages userdir and term.
package reach
