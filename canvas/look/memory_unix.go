//go:build unix

package look

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"time"
)

// residentOf returns the resident memory of a process group in bytes, as ps reports it: what
// the processes share counts once for each.
func residentOf(group int) (sum int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "pgid=", "-o", "rss=").Output()
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(out) {
		fields := bytes.Fields(line)
		if len(fields) != 2 || string(fields[0]) != strconv.Itoa(group) {
			continue
		}
		kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
		if err == nil {
			sum += 1024 * kib
		}
	}
	return sum
}
