// Package proc runs one side of a comparison in a separate process: this
// binary, started again with a variable that names the side. Parent and child
// exchange JSON over the child's standard input and output, one response for
// each request. The child ends when its input does.
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

// Request is a request to a side. Each command uses the members that it needs.
type Request struct {
	Do    string // the command
	N     int    `json:",omitzero"` // a count or an amount
	Size  int    `json:",omitzero"` // bytes
	Rate  int    `json:",omitzero"` // per second
	Name  string `json:",omitzero"` // of a variant of the command
	Addr  string `json:",omitzero"` // address of another side
	Token string `json:",omitzero"` // for Addr
}

// Response is a side's response, with what the request cost.
type Response struct {
	Error   string          `json:",omitzero"` // why the command failed
	Addr    string          `json:",omitzero"` // its address, or a URL
	Token   string          `json:",omitzero"` // for Addr
	Channel string          `json:",omitzero"` // the channel to subscribe to
	N       int64           `json:",omitzero"` // a count or a sequence number
	Took    time.Duration   `json:",omitzero"` // duration of what was measured
	CPU     time.Duration   `json:",omitzero"` // CPU time of the side's process since its start
	Heap    int64           `json:",omitzero"` // bytes
	Times   []time.Duration `json:",omitzero"` // duration of each operation
}

// Side defines a child process.
type Side struct {
	Hello Response                                   // the first message to the parent
	Do    map[string]func(Request) (Response, error) // the commands by name
	Close func()                                     // called at the end; may be nil
}

// AnyCore removes the pinning; see [Process.Pin].
const AnyCore = -1

// Sides are functions that make a side, by name. They run in the child.
type Sides map[string]func() (*Side, error)

// Main runs the side and exits if this process is a child. Otherwise it returns
// at once. Call it first in main.
func Main(sides Sides) {
	name := os.Getenv(variable)
	if name == "" {
		return
	}
	if err := serve(sides[name]); err != nil {
		fmt.Fprintf(os.Stderr, "side %s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(start func() (*Side, error)) error {
	if start == nil {
		return errors.New("unknown side")
	}
	side, err := start()
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
		var req Request
		if in.Decode(&req) != nil {
			return nil // the parent has ended or closed the pipe
		}
		resp, err := side.handle(req)
		if err != nil {
			resp = Response{Error: err.Error()}
		}
		resp.CPU = CPU()
		if err := out.Encode(resp); err != nil {
			return err
		}
	}
}

func (s *Side) handle(req Request) (Response, error) {
	switch fn := s.Do[req.Do]; {
	case fn != nil:
		return fn(req)
	case req.Do == "usage":
		return Response{}, nil
	case req.Do == "memory":
		return Response{Heap: memory()}, nil
	}
	return Response{}, fmt.Errorf("unknown command %q", req.Do)
}

// CPU returns the CPU time of this process, user and system.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory returns the heap and stacks in use after a collection.
func memory() int64 {
	for range 3 {
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// Process is a running side. Only one goroutine at a time may use it.
type Process struct {
	Hello Response // the side's first message

	cmd *exec.Cmd
	in  interface{ Close() error }
	enc *json.Encoder
	dec *json.Decoder
}

// Start starts a side and waits for its first message.
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

// Call sends a request and waits for the response.
func (p *Process) Call(req Request) (Response, error) {
	if err := p.enc.Encode(req); err != nil {
		return Response{}, fmt.Errorf("%s: %w", req.Do, err)
	}
	var a Response
	if err := p.dec.Decode(&a); err != nil {
		return Response{}, fmt.Errorf("%s: the side ended: %w", req.Do, err)
	}
	if a.Error != "" {
		return Response{}, fmt.Errorf("%s: %s", req.Do, a.Error)
	}
	return a, nil
}

// Stop ends the side and waits for it. It kills a side that does not end within
// five seconds.
func (p *Process) Stop() {
	_ = p.in.Close()
	timer := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	_ = p.cmd.Wait()
}
