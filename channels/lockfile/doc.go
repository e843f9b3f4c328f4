// Package lockfile locks a file against other processes of the machine. The
// state folder, the store, the endpoint file and the relay's token file each have
// one owner at a time.
//
// The operating system releases a lock when the process that holds it ends,
// however it ends. Other processes can read a locked file.
//
// # Why not github.com/gofrs/flock
//
// It locks a file that exists for nothing else: it opens the path itself, does not
// give out the file, and on Windows locks the first byte, which no other
// process can read then. Three of the four users here need what it leaves out. The store and
// the state folder write into the file that they lock, and other processes read
// from it who holds it; an endpoint file is locked before it is renamed to the name
// under which others find it, and is removed while it is open.
//
// The package imports none of this module's packages, and golang.org/x/sys on
// Windows.
package lockfile
