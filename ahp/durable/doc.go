// Package durable writes files that survive a power cut.
//
// # What it promises
//
//   - Replace leaves the old file or the new one under the name, never a part of it. The
//     new one is on disk, content and name, once Replace has returned nil.
//   - Files that Replace makes can be read and written only by the user.
//
// A process that is killed during Replace can leave a temporary file; its name begins
// with [Temporary].
//
// It imports only the standard library.
package durable
