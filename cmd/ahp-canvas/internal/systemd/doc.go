// Package systemd speaks with the service manager that started the program: it takes the
// listener of a socket unit, and reports when the program is ready and when it stops.
//
// # What it promises
//
//   - Without a service manager it does nothing.
//   - Programs that this one starts do not get the variables, and take neither the listener
//     nor the readiness for theirs.
//
// It imports nothing of this module.
package systemd
