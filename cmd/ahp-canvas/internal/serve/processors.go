package serve

import (
	"os"
	"runtime"
)

// fewProcessors is how many goroutines a host runs at once on a smaller machine.
const fewProcessors = 4

// useProcessors lets the system share out the processors of a small machine. Go lets a
// goroutine compute for up to 10 ms, so on two processors two long requests would hold up
// all short ones; the system changes between threads sooner. Garbage collections, which
// take a quarter of them, take no more than one. GOMAXPROCS has precedence. Larger machines
// keep Go's own number, which follows the limit of a container.
func useProcessors() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.NumCPU() < fewProcessors {
		runtime.GOMAXPROCS(fewProcessors)
	}
}
