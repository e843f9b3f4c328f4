// Package lockfile locks files between the processes of one machine: the state
// folder, the store, the endpoint file and the relay's token file each have one
// owner at a time.
//
// A lock goes with the process that has it, however that ends, and others can read
// the file meanwhile.
//
// The package imports nothing of ours, and golang.org/x/sys on Windows.
package lockfile
