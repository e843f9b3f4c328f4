package process

import (
	"os"
	"os/exec"
	"time"
)

// The times of [Process.End] and Wait.
const (
	CloseGrace   = 500 * time.Millisecond // from closing standard input to SIGTERM
	TermGrace    = 2 * time.Second        // from SIGTERM to SIGKILL
	DrainTimeout = time.Second            // for reading the remaining output of a dead process
)

// Process is a running program and its children.
type Process struct {
	// Stdin is the host's end of the program's standard input.
	Stdin *os.File
	// Stdout is the host's end of its standard output.
	Stdout *os.File
	// Group has the program and its children.
	Group *Group

	cmd     *exec.Cmd
	stderr  *os.File
	log     *Log
	words   Words
	exited  chan struct{} // closed after the leader has exited
	drained chan struct{} // closed at the end of standard error
}

// Start starts cmd with pipes for its standard streams. Standard error goes to log.
func Start(cmd *exec.Cmd, s *Starter, log *Log) (*Process, error) {
	p := &Process{cmd: cmd, Group: &Group{}, log: log, exited: make(chan struct{}), drained: make(chan struct{})}
	if err := p.start(s); err != nil {
		return nil, err
	}
	go p.drain()
	return p, nil
}

// start creates the pipes and starts the process.
func (p *Process) start(s *Starter) (err error) {
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			if f != nil {
				_ = f.Close()
			}
		}
		if err != nil {
			p.Release()
		}
	}()
	if theirs[0], p.Stdin, err = os.Pipe(); err != nil {
		return err
	}
	if p.Stdout, theirs[1], err = os.Pipe(); err != nil {
		return err
	}
	if p.stderr, theirs[2], err = os.Pipe(); err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	return p.Group.Start(p.cmd, s.Start)
}

// Release closes the host's ends of the pipes. The caller has called Wait, and nothing
// reads or writes them any more.
func (p *Process) Release() {
	for _, f := range []*os.File{p.Stdin, p.Stdout, p.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// drain reads standard error, so that the process never blocks on it.
func (p *Process) drain() {
	defer close(p.drained)
	buf := make([]byte, 16<<10)
	for {
		n, err := p.stderr.Read(buf)
		p.Keep(buf[:n])
		if err != nil {
			return
		}
	}
}

// Keep adds text that the program printed to its log and last words. Standard error is
// kept without it.
func (p *Process) Keep(text []byte) {
	p.words.Add(text)
	_, _ = p.log.Write(text)
}

// LastWords returns the last lines that the program printed, as plain text.
func (p *Process) LastWords() string { return p.words.String() }

// PID returns the process id of the program.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the program has exited.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Wait waits for the program's exit and returns its exit error. onExit, which can be nil,
// runs then. Wait kills the remaining children, reads the rest of standard error, and sets
// a deadline for reading standard output, because a child that left the group can keep it
// open. It is called once.
func (p *Process) Wait(onExit func()) error {
	err := p.cmd.Wait()
	close(p.exited)
	if onExit != nil {
		onExit()
	}
	p.Group.Kill()
	_ = p.stderr.SetReadDeadline(time.Now().Add(DrainTimeout))
	<-p.drained
	_ = p.Stdout.SetReadDeadline(time.Now().Add(DrainTimeout))
	return err
}

// End ends the program and its children. closeInput closes its standard input, after which
// it has time to exit; nil skips that step. Wait returns after it.
func (p *Process) End(closeInput func()) {
	if closeInput != nil {
		closeInput()
		if p.waitExit(CloseGrace) {
			return
		}
	}
	p.Group.Terminate()
	if !p.waitExit(TermGrace) {
		p.Group.Kill()
	}
}

// waitExit waits for the leader to exit, and reports whether it did so in time.
func (p *Process) waitExit(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}
