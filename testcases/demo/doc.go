// Package demo is the provider that the transcripts speak of (extensions "demo"
// and "other" in testcases/README.md): a counter whose every action is one thing
// that a provider can do. Hosts that are tested with them register it.
//
// A Provider keeps nothing; each open instance has a number of its own, which is
// lost when it is closed.
//
// The package imports canvas and ahp.
package demo
