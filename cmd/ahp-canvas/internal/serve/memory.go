package serve

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// byteSize is the value of --memory: a number of bytes with an optional unit.
type byteSize int64

// sizeUnits are the units of a byteSize, in the order in which String tries them.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String writes the size with the largest unit that divides it.
func (b byteSize) String() string {
	for _, u := range sizeUnits {
		if b != 0 && int64(b)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(b)/u.bytes, u.name)
		}
	}
	return ""
}

// Set reads a size.
func (b *byteSize) Set(s string) error {
	digits, factor := s, int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			digits, factor = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/factor {
		return fmt.Errorf("want a size, as in 512MiB or 2GiB")
	}
	*b = byteSize(n * factor)
	return nil
}

// Type names the value in the help.
func (b *byteSize) Type() string { return "size" }

const (
	// trimEvery is how often memory that is not used any more is looked for.
	trimEvery = 4 * time.Second
	// trimFrom is how much memory must have become free before the garbage collector is
	// run for it.
	trimFrom = 32 << 20
)

// limitMemory makes the garbage collector keep the process near the host's budget, and
// gives memory back to the system after a burst, until ctx is canceled. The collector
// would wait until the process grows again. GOMEMLIMIT has precedence.
func limitMemory(ctx context.Context, h *host.Host) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(h.Load().Memory.Limit)
	}
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	var after int64 // mapped after the last trim
	held := h.Load().Memory.Used
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := h.Load().Memory.Used
		if mapped() > after+trimFrom || held-now > trimFrom {
			debug.FreeOSMemory()
			after, held = mapped(), now
		}
		held = max(held, now)
	}
}

// mapped returns how much memory the process has from the system, in bytes.
func mapped() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}
