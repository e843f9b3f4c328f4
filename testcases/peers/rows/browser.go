package rows

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
)

// browser runs the benchmark of canvas/web: a web app behind a canvas in a real
// Chromium, alternating with the same app that the page frames directly.
func browser(e *Env) ([]figure.Figure, error) {
	if !chromium() {
		e.Log("browser: skipped, because Chromium is not installed\n")
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(e.Ctx, 3*time.Minute)
	defer cancel()
	dir, err := e.tempDir()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "web.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./canvas/web")
	build.Dir = e.Root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the page's benchmark: %w\n%s", err, bytes.TrimSpace(out))
	}
	values := map[string]map[string][]float64{}
	for _, m := range browserMeasures {
		name, loops := m.name, e.Pick(m.loops, m.short)
		if loops == 0 {
			continue
		}
		cmd := exec.CommandContext(ctx, binary, "-test.run", "^$", "-test.bench", "^BenchmarkBrowser$/^"+name+"$",
			"-test.benchtime", fmt.Sprintf("%dx", loops), "-test.count", strconv.Itoa(e.Pick(3, 1)))
		cmd.Dir = filepath.Join(e.Root, "canvas", "web")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("the page's benchmark: %w\n%s", err, bytes.TrimSpace(out))
		}
		if values[name] = benchValues(string(out))[name]; len(values[name]["ours"]) == 0 {
			return nil, fmt.Errorf("the page's benchmark has no values of %q:\n%s", name, bytes.TrimSpace(out))
		}
	}
	return browserFigures(values), nil
}

// browserMeasures are the benchmark's parts. loops is for each of three runs,
// short for the only run of a short comparison.
var browserMeasures = []struct {
	name         string
	loops, short int
	what, peer   string
	unit         string
	target       figure.Target
}{
	{"20_MB_down", 5, 2, "Chromium, 20 MB down, made for each request", "direct loopback", "MB/s", figure.Target{AtLeast: 0.4}},
	{"20_MB_listener", 5, 0, "Chromium, 20 MB down, framed on the host's listener", "direct loopback", "MB/s", figure.Target{AtLeast: 0.8}},
	{"20_MB_file", 5, 0, "Chromium, 20 MB down, sent in pieces", "direct loopback", "MB/s", figure.Target{AtLeast: 0.4}},
	{"20_MB_frames", 5, 0, "Chromium, 20 MB down, sent in pieces", "bare WebSocket frames, decoded", "MB/s", figure.Target{}},
	{"event", 60, 20, "Chromium, event to next frame, p50", "direct loopback", "ms", figure.Target{AtMost: 1.4}},
	{"event_listener", 60, 0, "Chromium, event to next frame, p50, framed on the host's listener", "direct loopback", "ms", figure.Target{AtMost: 1.2}},
	{"socket", 20, 0, "Chromium, WebSocket echo of 1 KiB, p50", "direct loopback", "ms", figure.Target{AtMost: 3}},
	{"socket_listener", 20, 0, "Chromium, WebSocket echo of 1 KiB, p50, framed on the host's listener", "direct loopback", "ms", figure.Target{AtMost: 1.2}},
	{"mount", 7, 0, "Chromium, mount of a canvas in an open page", "", "ms", figure.Target{AtMost: 200}},
	{"open", 3, 0, "Chromium, cold open of the page to the canvas's first paint", "", "ms", figure.Target{}},
}

func browserFigures(values map[string]map[string][]float64) (figures []figure.Figure) {
	for _, m := range browserMeasures {
		if v, ok := values[m.name]; ok {
			figures = append(figures, figure.Figure{What: m.what, Peer: m.peer, Unit: m.unit, Ours: v["ours"], Theirs: v["direct"], Target: m.target})
		}
	}
	return figures
}

// chromium reports whether Chromium is installed under a name that
// canvas/web/webtest tries.
func chromium() bool {
	for name := range strings.FieldsSeq("chromium chromium-browser google-chrome") {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}
