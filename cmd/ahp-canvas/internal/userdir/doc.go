// Package userdir names the folders in which ahp-canvas keeps things for a user, and
// makes files and folders that only this user can read.
//
// # What it promises
//
//   - A folder that Ensure or Check accepts belongs to the user and is closed to others.
//   - WriteFile replaces a file as a whole: after a power cut it is the old one or the
//     new one.
//
// It imports only the standard library.
package userdir
