// Package state holds the commands that read what a host keeps: state check, dump,
// backup and restore.
//
// # What it promises
//
//   - check, dump and backup do not change the store, and a host can run meanwhile.
//   - restore never deletes what it replaces, and fails while a host uses the folder.
//   - Every record is verified before it is printed or copied.
//
// It imports durable files (ahp/durable), the store (channels/sqlitestore) and packages statedir, userdir and term.
package state
