//go:build !unix

package ws

// canTry: elsewhere a write goes through the system's queue of completions, and
// there is none that waits for nothing.
const canTry = false

func writeOnce(uintptr, []byte) int { return 0 }
