// Package userdir names the folders in which ahp-canvas keeps things for a user, and
// makes folders that only this user can enter.
//
// # What it promises
//
//   - A folder that Ensure or Check accepts belongs to the user and is closed to others.
//
// It imports only the standard library.
package userdir
