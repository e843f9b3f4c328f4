package sqlitestore_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// TestPowerFailure: after a power failure, any combination of the sectors of 512 bytes
// that were written to a file since its last sync might be on the disk. The test traces
// the system calls of a process that commits, reconstructs possible contents of the disk
// at many moments, and opens the store. It must have every acknowledged batch, and each
// other batch as a whole or not at all. The store was closed before, or its host was
// killed, so that Open first applies a log.
func TestPowerFailure(t *testing.T) {
	needsStrace(t)
	ahptest.Leaks(t)
	for _, before := range []string{"closed", "killed"} {
		t.Run(before, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), sqlitestore.FileName)
			if before == "killed" {
				c := startChild(t, path, 8, 1<<30)
				c.acks(200)
				c.kill(t)
			} else if err := open(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			kept := map[string]string{}
			if _, err := sqlitestore.Dump(t.Context(), path, func(key string, value []byte) error { kept[key] = string(value); return nil }); err != nil {
				t.Fatal(err)
			}
			at, err := roundsOf(kept)
			if err != nil {
				t.Fatal(err)
			}
			cutPower(t, path, at)
		})
	}
}

// cutPower traces a host that commits, and simulates power failures: before each system
// call until the first acknowledgement, and before some later ones.
func cutPower(t *testing.T, path string, acked map[int]int) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	d := newPowered(t, path, acked)
	c := startChild(t, path, 8, 120, "strace", "-f", "-y", "-xx", "-s", "65536", "-o", trace, "-e", "trace=write,pwrite64,ftruncate,fsync,fdatasync,unlink")
	if acks := c.acks(1 << 30); acks != 8*120 {
		t.Fatalf("%d acknowledgements: %s", acks, &c.errs)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &c.errs)
	}
	calls := readCalls(t, read(t, trace))
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	cuts, n := whenToCut(t, path, calls, rnd)
	lost, pieces, copying := 0, 0, 0
	for i, call := range calls {
		for range cuts[i] {
			if len(d.later[""]) > 0 {
				copying++
			}
			at := filepath.Join(t.TempDir(), sqlitestore.FileName)
			l, p := d.cut(t, at, rnd)
			lost, pieces = lost+l, pieces+p
			if err := agrees(reopen(t, at), d.acked); err != nil || t.Failed() {
				t.Fatalf("seed %d, before call %d of %d: %v", seed, i, len(calls), err)
			}
		}
		d.take(call)
	}
	t.Logf("%d power failures, %d of them while the log is copied into the file, among %d calls and %d syncs: of %d sectors not yet synced %d were lost; 0 acknowledged batches lost, 0 partial",
		n, copying, len(calls), d.syncs, pieces, lost)
}

// whenToCut returns the number of power failures to simulate before each call.
func whenToCut(t *testing.T, path string, calls []call, rnd *rand.Rand) (cuts map[int]int, n int) {
	t.Helper()
	cuts = map[int]int{}
	for i, c := range calls { // while the store is opened
		if strings.HasPrefix(string(c.data), "ack ") {
			break
		}
		cuts[i]++
		n++
	}
	var rare []int // calls while the log is copied into the file and truncated
	for i := 1; i < len(calls); i++ {
		if before := calls[i-1]; before.file == path || before.name == "ftruncate" {
			rare = append(rare, i)
		}
	}
	if len(rare) == 0 {
		t.Fatal("the log was not copied into the file")
	}
	for range long(30, 500) {
		cuts[rnd.IntN(len(calls))]++
		cuts[rare[rnd.IntN(len(rare))]]++
		n += 2
	}
	return cuts, n
}

// call is a system call that changes a file or reports an acknowledgement.
type call struct {
	name, file string // the path
	data       []byte
	at         int64 // offset, or the size of ftruncate
}

var (
	callLine   = regexp.MustCompile(`^(\d+) +(write|pwrite64|ftruncate|fsync|fdatasync)\(\d+<([^>]*)>(?:, "([^"]*)"(\.\.\.)?, \d+)?(?:, (\d+))?`)
	resumeLine = regexp.MustCompile(`^(\d+) +<\.\.\. f(?:data)?sync resumed>`)
)

// readCalls parses a trace. A write counts from its start, a sync from its end.
func readCalls(t *testing.T, text []byte) (calls []call) {
	begun := map[string]call{} // syncs, by thread
	for line := range strings.Lines(string(text)) {
		if m := resumeLine.FindStringSubmatch(line); m != nil {
			calls = append(calls, begun[m[1]])
			continue
		}
		m := callLine.FindStringSubmatch(line)
		switch {
		case strings.Contains(line, " unlink("):
			return calls // the child is closing the store
		case m == nil:
			continue
		case m[5] != "":
			t.Fatalf("the trace has truncated data: %.200s", line)
		}
		c := call{name: m[2], file: string(unhex(t, m[3])), data: unhex(t, m[4])}
		if m[6] != "" {
			c.at, _ = strconv.ParseInt(m[6], 10, 64)
		}
		if strings.HasSuffix(c.name, "sync") {
			if strings.Contains(line, "<unfinished") {
				begun[m[1]] = c
				continue
			}
			c.name = "fsync"
		}
		calls = append(calls, c)
	}
	return calls
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b := make([]byte, 0, len(text)/4)
	for _, part := range strings.Split(text, `\x`)[1:] {
		v, err := strconv.ParseUint(part, 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, byte(v))
	}
	return b
}

// powered is a disk with a store's files: the synced contents, and the writes since.
type powered struct {
	path   string
	synced map[string][]byte // by file name suffix
	later  map[string][]call
	acked  map[int]int
	syncs  int
}

var storeFiles = []string{"", "-wal", "-lock"}

func newPowered(t *testing.T, path string, acked map[int]int) *powered {
	d := &powered{path: path, synced: map[string][]byte{}, later: map[string][]call{}, acked: acked}
	for _, end := range storeFiles {
		if data, err := os.ReadFile(path + end); err == nil {
			d.synced[end] = data
		}
	}
	return d
}

// take applies a call to the disk.
func (d *powered) take(c call) {
	end, ours := strings.CutPrefix(c.file, d.path)
	switch {
	case c.name == "write":
		var caller, round int
		if k, _ := fmt.Sscanf(string(c.data), "ack %d %d", &caller, &round); k == 2 {
			d.acked[caller] = round
		}
	case !ours || !slices.Contains(storeFiles, end):
	case strings.HasSuffix(c.name, "sync"):
		d.syncs++
		for _, w := range d.later[end] {
			d.synced[end] = w.apply(d.synced[end])
		}
		delete(d.later, end)
	default:
		d.later[end] = append(d.later[end], c)
	}
}

// apply applies the call to the contents of a file.
func (c call) apply(to []byte) []byte {
	size := c.at
	if c.name == "pwrite64" {
		size = max(int64(len(to)), c.at+int64(len(c.data)))
	}
	if grow := size - int64(len(to)); grow > 0 {
		to = append(to, make([]byte, grow)...)
	}
	to = to[:size]
	if c.name == "pwrite64" {
		copy(to[c.at:], c.data)
	}
	return to
}

const sector = 512

// sectors splits a write at the boundaries of sectors.
func (c call) sectors() (all []call) {
	if c.name != "pwrite64" {
		return []call{c}
	}
	for data, at := c.data, c.at; len(data) > 0; {
		n := min(int64(len(data)), sector-at%sector)
		all = append(all, call{c.name, c.file, data[:n], at})
		data, at = data[n:], at+n
	}
	return all
}

// cut writes the files as a power failure might leave them: with or without each
// unsynced sector. The probability is chosen for each file, so that none, all and some
// of them occur.
func (d *powered) cut(t *testing.T, path string, rnd *rand.Rand) (lost, pieces int) {
	t.Helper()
	ends := slices.Sorted(maps.Keys(d.synced))
	for end := range d.later {
		if d.synced[end] == nil {
			ends = append(ends, end)
		}
	}
	slices.Sort(ends)
	for _, end := range ends {
		data := slices.Clone(d.synced[end])
		kept := max(0, min(1, rnd.Float64()*1.5-0.25))
		for _, w := range d.later[end] {
			for _, piece := range w.sectors() {
				pieces++
				if rnd.Float64() < kept {
					data = piece.apply(data)
				} else {
					lost++
				}
			}
		}
		if err := os.WriteFile(path+end, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return lost, pieces
}
