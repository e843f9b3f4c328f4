// Package people holds the verbs about who may do what at a running host: token, people
// and audit.
//
// # What it promises
//
//   - A new token is printed once; the host does not keep it, and neither does this
//     program.
//   - Lists show names and ids, never a token.
//
// It knows the host by its endpoints only, and imports the tokens (ahp/token), and packages
// reach and term.
package people
