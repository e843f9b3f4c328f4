package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// tolerable is a p99 that is too short to notice.
const tolerable = 20 * time.Millisecond

// settle is how long a host has after the load until it holds nothing of it.
const settle = 45 * time.Second

// soakPrograms runs the load against a host and a relay, prints what was measured, and
// returns what is wrong.
func soakPrograms(ctx context.Context, binary string, p plan, out io.Writer) (wrong []string, err error) {
	w, err := launch(ctx, binary)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	s := &soak{plan: p, world: world{agent: w, people: w, kills: w, probe: func(ctx context.Context) (*client.Client, error) {
		return client.Dial(ctx, w.at.AHP, client.Options{Token: w.at.AgentToken})
	}}}
	if err := eventually(ctx, func() error { return w.Open(ctx, "board", "board") }); err != nil {
		return nil, err
	}
	all, began := quantities(p.steady), time.Now()
	var failed error
	measure := func(put func(m *measured, v float64)) {
		values, err := w.measure()
		if err != nil {
			failed = err
			return
		}
		for i, m := range all {
			put(m, values[i])
		}
	}
	measure(func(m *measured, v float64) { m.before = v })
	s.run(ctx, func() {
		measure(func(m *measured, v float64) { m.at, m.values = append(m.at, time.Since(began)), append(m.values, v) })
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// The host forgets people who left without a word after a while.
	for end := time.Now().Add(settle); ; {
		measure(func(m *measured, v float64) { m.after = v })
		if quiet(all) || time.Now().After(end) || !wait(ctx, time.Second) {
			break
		}
	}
	wrong = report(out, s, all)
	if p.table != "" {
		failed = errors.Join(failed, table(p.table, all))
	}
	return wrong, failed
}

// quiet reports whether everything is back at what it was before the load.
func quiet(all []*measured) bool {
	for _, m := range all {
		if m.after > m.before+m.spare {
			return false
		}
	}
	return true
}

// report prints what was measured, and returns what is wrong.
func report(out io.Writer, s *soak, all []*measured) (wrong []string) {
	fmt.Fprintf(out, "%s: %v\n%s\n", s.lasts, s.counts, header)
	for _, m := range all {
		row, bad := m.judge()
		if fmt.Fprintln(out, row); bad != "" {
			wrong = append(wrong, bad)
		}
	}
	start, end, bad := slowed(s.took, tolerable)
	fmt.Fprintf(out, "p99 of %d echoes: %s at the start, %s at the end\n", len(s.took), start.Round(10*time.Microsecond), end.Round(10*time.Microsecond))
	if bad != "" {
		wrong = append(wrong, bad)
	}
	for _, what := range []string{"calls", "visits", "visits through the relay", "crashes", "restarts"} {
		if s.counts[what] == 0 {
			wrong = append(wrong, "no "+what)
		}
	}
	if n := s.counts["failed"]; n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d calls failed", n))
	}
	return append(wrong, s.failed...)
}

// quantities are what measure measures. The relay is another process after each kill, so
// that its memory before the load says nothing. Slopes are judged if the run is steady.
func quantities(steady bool) []*measured {
	unlimited := math.Inf(1)
	all := []*measured{
		{quantity: quantity{"host memory", "MiB", 8, unlimited}},
		{quantity: quantity{"host heap", "MiB", 4, unlimited}},
		{quantity: quantity{"host goroutines", "", 4, 6}},
		{quantity: quantity{"host files", "", 2, 4}},
		{quantity: quantity{"disk", "KiB", 512, 16 << 10}},
		{quantity: quantity{"relay memory", "MiB", 8, unlimited}},
		{quantity: quantity{"relay goroutines", "", 8, 6}},
		{quantity: quantity{"relay files", "", 8, 4}},
	}
	for _, part := range memoryParts {
		all = append(all, &measured{quantity: quantity{part, "MiB", unlimited, unlimited}})
	}
	for _, m := range all {
		if !steady {
			m.tolerance = unlimited
		}
	}
	return all
}

// measure measures the quantities. After a kill the relay has no numbers for a moment:
// it is asked until it answers.
func (p *programs) measure() ([]float64, error) {
	h, err := scrape(p.hostAdmin)
	if err != nil {
		return nil, err
	}
	var r map[string]float64
	err = eventually(context.Background(), func() (err error) {
		p.mu.Lock()
		admin := p.relayAdmin
		p.mu.Unlock()
		r, err = scrape(admin)
		return err
	})
	if err != nil {
		return nil, err
	}
	const mib = 1 << 20
	values := []float64{
		h["process_resident_memory_bytes"] / mib, h["go_memstats_heap_inuse_bytes"] / mib, h["go_goroutines"], h["process_open_fds"],
		folderSize(p.state()) / 1024,
		r["process_resident_memory_bytes"] / mib, r["go_goroutines"], r["process_open_fds"],
	}
	for _, part := range memory(h, p.host.cmd.Process.Pid) {
		values = append(values, part/mib)
	}
	return values, nil
}

// scrape reads the numbers without labels at an address of --admin.
func scrape(address string) (map[string]float64, error) {
	c := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get("http://" + address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil && !strings.HasPrefix(name, "#") {
			all[name] = v
		}
	}
	if all["go_goroutines"] == 0 {
		return nil, fmt.Errorf("no metrics at %s", address)
	}
	return all, nil
}

// folderSize returns the bytes of the files in a folder.
func folderSize(dir string) (bytes float64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // removed meanwhile
		}
		if info, err := d.Info(); err == nil {
			bytes += float64(info.Size())
		}
		return nil
	})
	return bytes
}
