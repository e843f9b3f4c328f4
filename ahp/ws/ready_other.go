//go:build !unix

package ws

// canReadOnce: elsewhere a read goes through the system's queue of completions.
const canReadOnce = false

func readOnce(uintptr, []byte) (n int, again bool, err error) { return 0, false, nil }
