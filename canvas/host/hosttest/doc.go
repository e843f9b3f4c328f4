// Package hosttest serves a host during a test.
//
// It is a test kit: it imports canvas/host and channels, and only tests and test kits
// import it.
package hosttest
