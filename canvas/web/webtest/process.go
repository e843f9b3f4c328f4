package webtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// process is a program that a browser is made of.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	said bytes.Buffer
}

func begin(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	cmd.WaitDelay = time.Second // its children may hold its output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { defer close(p.done); _ = cmd.Wait() }()
	return p, nil
}

// kill ends it, in peace where it does so soon. What it started ends by itself, which has lost its parent.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// until waits for something that the process does soon after its start.
func (p *process) until(ready func() bool) error {
	late := time.After(Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-p.done:
			return fmt.Errorf("%s ended: %s", p.cmd.Path, p.said.String())
		case <-late:
			return errors.New(p.cmd.Path + " is not ready")
		}
	}
	return nil
}
