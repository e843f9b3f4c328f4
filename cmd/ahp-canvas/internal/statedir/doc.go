// Package statedir is the folder in which a host keeps what survives its restart: its
// tokens and port in host.json, and its store.
//
// # What it promises
//
//   - One host uses a folder at a time: Open locks it, and returns ErrInUse while another
//     host has it. The lock ends with the process.
//   - host.json is replaced as a whole, and only the user can read it. So is tokens.json,
//     which has the hashes of the tokens that were created for others.
//   - Errors of the store have codes that scripts can tell apart.
//
// It knows no verb and no host. It imports the log's store and lock, the vocabulary, the tokens, and
// packages userdir and term.
package statedir
