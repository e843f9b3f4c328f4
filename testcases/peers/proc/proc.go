// Package proc runs one side of a comparison in a process of its own: this
// binary, started again with a variable that names the side. The two speak
// JSON over the child's standard input and output, one answer to each question,
// and the child ends with its input.
package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

const variable = "AHP_PEERS_SIDE"

// Ask is a question to a side; each command looks at the members it needs.
type Ask struct {
	Do    string
	N     int    `json:",omitzero"` // how many, or how much
	Size  int    `json:",omitzero"` // bytes
	Rate  int    `json:",omitzero"` // a second
	Name  string `json:",omitzero"`
	Addr  string `json:",omitzero"` // of another side
	Token string `json:",omitzero"`
}

// Answer is what a side says, and what it spent on the question.
type Answer struct {
	Error   string          `json:",omitzero"`
	Addr    string          `json:",omitzero"` // where it listens, or a URL
	Token   string          `json:",omitzero"`
	Channel string          `json:",omitzero"`
	N       int64           `json:",omitzero"`
	Took    time.Duration   `json:",omitzero"` // of what was measured
	CPU     time.Duration   `json:",omitzero"` // of this process, since it began
	Heap    int64           `json:",omitzero"` // bytes
	Times   []time.Duration `json:",omitzero"` // one for each thing that was done
}

// Side is what a child does: how it greets, the commands it knows, and its end.
type Side struct {
	Hello Answer
	Do    map[string]func(Ask) (Answer, error)
	Close func()
}

// AnyCore is no core in particular; see [Process.Keep].
const AnyCore = -1

// Kinds are the sides by name. A kind is called in the child.
type Kinds map[string]func() (*Side, error)

// Main is the child's life, where this process is one; elsewhere it returns at
// once. It is the first call of main.
func Main(kinds Kinds) {
	name := os.Getenv(variable)
	if name == "" {
		return
	}
	if err := serve(kinds[name]); err != nil {
		fmt.Fprintf(os.Stderr, "side %s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(kind func() (*Side, error)) error {
	if kind == nil {
		return errors.New("no such side")
	}
	side, err := kind()
	if err != nil {
		return err
	}
	if side.Close != nil {
		defer side.Close()
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	if err := out.Encode(side.Hello); err != nil {
		return err
	}
	for {
		var ask Ask
		if in.Decode(&ask) != nil {
			return nil // the parent is gone, or wants us to be
		}
		answer, err := side.answer(ask)
		if err != nil {
			answer = Answer{Error: err.Error()}
		}
		answer.CPU = CPU()
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
}

func (s *Side) answer(ask Ask) (Answer, error) {
	switch fn := s.Do[ask.Do]; {
	case fn != nil:
		return fn(ask)
	case ask.Do == "usage":
		return Answer{}, nil
	case ask.Do == "memory":
		return Answer{Heap: memory()}, nil
	}
	return Answer{}, fmt.Errorf("command %q is unknown", ask.Do)
}

// CPU is what this process has used, in user and kernel.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is heap and stacks in use, after a collection.
func memory() int64 {
	for range 3 {
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// Process is a side as its parent sees it. One goroutine at a time asks.
type Process struct {
	Hello Answer

	cmd *exec.Cmd
	in  interface{ Close() error }
	enc *json.Encoder
	dec *json.Decoder
}

// Start starts a side and waits for its greeting.
func Start(kind string, env ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), variable+"="+kind), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, in: in, enc: json.NewEncoder(in), dec: json.NewDecoder(out)}
	if err := p.dec.Decode(&p.Hello); err != nil {
		p.Stop()
		return nil, fmt.Errorf("side %s did not start: %w", kind, err)
	}
	return p, nil
}

// Ask asks and waits for the answer.
func (p *Process) Ask(ask Ask) (Answer, error) {
	if err := p.enc.Encode(ask); err != nil {
		return Answer{}, fmt.Errorf("%s: %w", ask.Do, err)
	}
	var a Answer
	if err := p.dec.Decode(&a); err != nil {
		return Answer{}, fmt.Errorf("%s: the side ended: %w", ask.Do, err)
	}
	if a.Error != "" {
		return Answer{}, fmt.Errorf("%s: %s", ask.Do, a.Error)
	}
	return a, nil
}

// Stop ends the side and waits for it; one that does not end within five seconds is
// killed.
func (p *Process) Stop() {
	_ = p.in.Close()
	timer := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	_ = p.cmd.Wait()
}
