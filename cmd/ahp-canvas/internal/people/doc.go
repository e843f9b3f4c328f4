// Package people holds the verbs about who may do what at a host: token, people
// and audit.
//
// # What it promises
//
//   - A new token is printed once; the host does not keep it, and neither does this
//     program.
//   - Without a running host, token and people change the state folder, under its lock.
//   - Lists show names and ids, never a token.
//
// It knows a running host by its endpoints only, and imports the tokens (ahp/token), the
// entries of an audit (canvas/host), and packages reach, statedir and term.
package people
