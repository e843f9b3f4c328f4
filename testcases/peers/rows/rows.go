// Package rows has one function for each row of the comparison: it starts both
// sides, takes them in turns, and returns what was measured.
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

// Row is one row of the table.
type Row struct {
	Name string
	What string
	Run  func(*Env) ([]figure.Figure, error)
}

// All are the rows in the order of the table.
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

// Env is what a row is given. What it starts with it ends with Close.
type Env struct {
	Ctx    context.Context
	Short  bool
	Dir    string // for stores: a disk, not memory
	Root   string // of the main module
	Log    func(format string, args ...any)
	closes []func()
}

// Rounds is how often both sides take their turn.
func (e *Env) Rounds(long int) int {
	if e.Short {
		return min(2, long)
	}
	return long
}

// Pick is long or, in a short run, short.
func (e *Env) Pick(long, short int) int {
	if e.Short {
		return short
	}
	return long
}

// Later calls fn at the end of the row, in the reverse order.
func (e *Env) Later(fn func()) { e.closes = append(e.closes, fn) }

// Close ends what the row has started.
func (e *Env) Close() {
	for len(e.closes) > 0 {
		last := len(e.closes) - 1
		e.closes[last]()
		e.closes = e.closes[:last]
	}
}

// start starts a side, which ends with the row.
func (e *Env) start(kind string, env ...string) (*proc.Process, error) {
	p, err := proc.Start(kind, env...)
	if err != nil {
		return nil, err
	}
	e.Later(p.Stop)
	return p, nil
}

// tempDir is a folder of the row's own.
func (e *Env) tempDir() (string, error) {
	dir, err := os.MkdirTemp(e.Dir, "ahp-peers-")
	if err == nil {
		e.Later(func() { _ = os.RemoveAll(dir) })
	}
	return dir, err
}

// await asks a side again and again until it counts n connections.
func await(p *proc.Process, n int) error {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		a, err := p.Ask(proc.Ask{Do: "connections"})
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

// cpu is what a process has used until now.
func cpu(p *proc.Process) (time.Duration, error) {
	a, err := p.Ask(proc.Ask{Do: "usage"})
	return a.CPU, err
}

// ModuleRoot finds the main module above the working directory.
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
			return "", fmt.Errorf("the main module is not above the working directory: run this in testcases/peers")
		}
	}
}
