package heavy

import "runtime"

// From is the size in bytes from which work on a message is heavy.
const From = 64 << 10

// turns has an element for each turn in progress: all processors but one, at least one.
var turns = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))

// Begin waits for a turn. The caller calls End after its work.
func Begin() { turns <- struct{}{} }

// End ends a turn.
func End() { <-turns }

// Do runs fn in a turn if its size in bytes is heavy, and at once if not.
func Do(size int, fn func()) {
	if size < From {
		fn()
		return
	}
	Begin()
	defer End()
	fn()
}
