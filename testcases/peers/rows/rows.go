// Package rows has a function for each row of the comparison. It starts both
// sides, lets them take turns, and returns the measurements.
package rows

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// Row is a row of the comparison.
type Row struct {
	Name string                              // for -row
	What string                              // what it measures, in a few words
	Run  func(*Env) ([]figure.Figure, error) // measures the row
}

// All lists the rows in the order of the table.
var All = []Row{
	{"fanout", "fan-out of one action to 1,000 subscribers", fanOut},
	{"call", "host-to-client request and response", calls},
	{"content", "canvasReadResource", content},
	{"relay", "relay", relay},
	{"bridge", "bridge, page to web app", bridgeRow},
	{"browser", "the same in Chromium, page to web app", browser},
	{"idle", "idle connection with one subscription", idle},
	{"open", "open of a canvas, durable store", durableOpen},
	{"reconnect", "reconnect", reconnect},
	{"growth", "growth", growth},
	{"stuck", "one stuck subscriber among 100", stuck},
	{"start", "start", start},
}

// Env is the environment of a row.
type Env struct {
	Ctx   context.Context                  // ends with the command's time limit
	Short bool                             // whether the run is short
	Dir   string                           // folder for stores, which should be on a disk
	Root  string                           // the main module's folder
	Log   func(format string, args ...any) // prints a remark

	cleanups []func()
}

// Rounds returns the number of turns of each side.
func (e *Env) Rounds(long int) int {
	if e.Short {
		return min(2, long)
	}
	return long
}

// Pick returns long or, in a short run, short.
func (e *Env) Pick(long, short int) int {
	if e.Short {
		return short
	}
	return long
}

// Cleanup registers a function for Close to call, last registered first.
func (e *Env) Cleanup(fn func()) { e.cleanups = append(e.cleanups, fn) }

// Close calls the functions registered with Cleanup.
func (e *Env) Close() {
	for len(e.cleanups) > 0 {
		last := len(e.cleanups) - 1
		e.cleanups[last]()
		e.cleanups = e.cleanups[:last]
	}
}

// start starts a side, which ends with the row.
func (e *Env) start(kind string, env ...string) (*proc.Process, error) {
	p, err := proc.Start(kind, env...)
	if err != nil {
		return nil, err
	}
	e.Cleanup(p.Stop)
	return p, nil
}

// tempDir makes a folder that is removed at the end of the row.
func (e *Env) tempDir() (string, error) {
	dir, err := os.MkdirTemp(e.Dir, "ahp-peers-")
	if err == nil {
		e.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	return dir, err
}

// await polls a side until it has n connections.
func await(p *proc.Process, n int) error {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		a, err := p.Call(proc.Request{Do: "connections"})
		if err != nil {
			return err
		}
		if a.N == int64(n) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d connections, want %d", a.N, n)
		}
	}
}

// cpu returns the CPU time of a process so far.
func cpu(p *proc.Process) (time.Duration, error) {
	a, err := p.Call(proc.Request{Do: "usage"})
	return a.CPU, err
}

// ModuleRoot returns the main module's folder, which must be above the working
// directory.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "ahp-canvas", "main.go")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("the main module is not above the working directory; run this in testcases/peers")
		}
	}
}
