//go:build !unix

package ws

// canTry: elsewhere reads and writes go through the system's queue of completions,
// and there is none that waits for nothing.
const canTry = false

func readOnce(uintptr, []byte) (n int, again bool, err error) { return 0, false, nil }

func writeOnce(uintptr, []byte) int { return 0 }
