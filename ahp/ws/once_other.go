//go:build !unix

package ws

// canTry is false, because reads and writes go through the system's completion queue,
// and none is possible without waiting.
const canTry = false

func readOnce(uintptr, []byte) (n int, again bool, err error) { return 0, false, nil }

func writeOnce(uintptr, []byte) int { return 0 }
