// Package heavy lets long work take turns, so that short work always finds a processor.
//
// Go's scheduler runs a goroutine for up to 10 ms before another one gets the processor.
// If fifty connections receive, decode or send a megabyte each, a short message waits
// behind all of them, for each of its steps. Work that takes a turn here leaves at least
// one processor to everything else.
//
// Work in a turn only computes or copies: it takes no second turn, holds no lock that is
// held while waiting for a turn, and waits for nothing.
//
// The package imports the standard library only.
package heavy
