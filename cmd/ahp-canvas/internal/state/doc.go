// Package state holds the commands that read what a host keeps: state check, dump and
// backup.
//
// # What it promises
//
//   - No command changes the store, and a host can run meanwhile.
//   - Every record is verified before it is printed or copied.
//
// It imports the store (channels/sqlitestore) and packages statedir, userdir and term.
package state
