package rows

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
)

// start builds the command, as released and with plain go build, and measures
// the time until `serve` has printed its address, from which on it accepts
// requests. A build with -trimpath shares no cache with the others, so a short
// run omits it. The builds do not count for the time limit of the run: the
// first one can take minutes.
func start(e *Env) ([]figure.Figure, error) {
	dir, err := e.tempDir()
	if err != nil {
		return nil, err
	}
	small, plain := filepath.Join(dir, "small"), filepath.Join(dir, "plain")
	flags := []string{"-trimpath", "-ldflags", "-s -w"}
	if e.Short {
		flags = flags[1:]
	}
	if err := build(e, small, flags...); err != nil {
		return nil, err
	}
	size := figure.Figure{What: "binary, " + strings.Join(flags, " "), Unit: "MB", Ours: []float64{megabytes(small)}, Target: figure.Target{AtMost: 50}}
	figures := []figure.Figure{size}
	if !e.Short {
		if err := build(e, plain); err != nil {
			return nil, err
		}
		figures = append(figures, figure.Figure{What: "binary, plain go build", Unit: "MB", Ours: []float64{megabytes(plain)}})
	}
	for _, f := range []struct {
		what  string
		flags []string
	}{{"serve ready, in memory", []string{"--state", "memory"}}, {"serve ready, with a store", []string{"--state", filepath.Join(dir, "state")}}} {
		ready := figure.Figure{What: f.what, Unit: "ms", Target: figure.Target{AtMost: 200}}
		for range e.Rounds(9) {
			took, err := serveOnce(e, dir, small, f.flags)
			if err != nil {
				return nil, err
			}
			ready.Ours = append(ready.Ours, took.Seconds()*1e3)
		}
		figures = append(figures, ready)
	}
	return figures, nil
}

func build(e *Env, out string, flags ...string) error {
	cmd := exec.CommandContext(context.WithoutCancel(e.Ctx), "go", append(append([]string{"build", "-o", out}, flags...), "./cmd/ahp-canvas")...)
	cmd.Dir = e.Root
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, msg)
	}
	return nil
}

func megabytes(name string) float64 {
	info, err := os.Stat(name)
	if err != nil {
		return -1
	}
	return float64(info.Size()) / 1e6
}

func serveOnce(e *Env, home, binary string, flags []string) (time.Duration, error) {
	cmd := exec.CommandContext(context.WithoutCancel(e.Ctx), binary, append([]string{"serve", "--json"}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_RUNTIME_DIR="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	took := time.Since(begun)
	_ = cmd.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	if err != nil {
		return 0, fmt.Errorf("serve printed nothing: %w", err)
	}
	return took, nil
}
