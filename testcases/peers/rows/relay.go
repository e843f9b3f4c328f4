package rows

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
)

// relay runs the benchmark of ahp/relay, which alternates between an edge and a
// splice, each in its own process. Its figures are ratios.
func relay(e *Env) ([]figure.Figure, error) {
	ctx, cancel := context.WithTimeout(e.Ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkRelay$",
		"-benchtime", fmt.Sprintf("%dx", e.Pick(11, 1)), "-count", strconv.Itoa(e.Pick(3, 1)), "./ahp/relay")
	cmd.Dir = e.Root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the relay's benchmark: %w\n%s", err, bytes.TrimSpace(out))
	}
	values := benchValues(string(out))
	var figures []figure.Figure
	for _, c := range []struct {
		name  string
		times float64
	}{{"64 lanes of 300 bytes", 0.9}, {"64 lanes of 8 KiB", 0.9}, {"1 lane of 10 MiB", 1}} {
		v := values[strings.ReplaceAll(c.name, " ", "_")]
		if len(v["x-splice"]) == 0 {
			return nil, fmt.Errorf("the relay's benchmark has no values of %q", c.name)
		}
		figures = append(figures,
			figure.Figure{What: "relay, " + c.name + ", throughput over a kernel splice's", Unit: "x", Ours: v["x-splice"], Target: figure.Target{AtLeast: c.times}},
			figure.Figure{What: "relay, " + c.name + ", most resident", Unit: "MB", Ours: v["MB"], Target: figure.Target{AtMost: 40}})
	}
	return figures, nil
}

// benchValues parses the output of go test -bench: the values of all runs, by
// the benchmark's last name without the number of processors, and by unit.
func benchValues(out string) map[string]map[string][]float64 {
	all := map[string]map[string][]float64{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		_, name, _ := strings.Cut(fields[0], "/")
		if at := strings.LastIndexByte(name, '-'); at > 0 {
			name = name[:at]
		}
		if all[name] == nil {
			all[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				all[name][fields[i+1]] = append(all[name][fields[i+1]], v)
			}
		}
	}
	return all
}
