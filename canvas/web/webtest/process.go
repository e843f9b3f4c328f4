package webtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// process is a running program of a browser.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{}
	output bytes.Buffer
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	cmd.WaitDelay = time.Second // its children can keep the output open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { defer close(p.done); _ = cmd.Wait() }()
	return p, nil
}

// kill interrupts the process and, after 5 s, kills it. Its children end when they lose
// their parent.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// until polls a condition that holds soon after the process has started.
func (p *process) until(ready func() bool) error {
	late := time.After(Timeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-p.done:
			return fmt.Errorf("%s ended: %s", p.cmd.Path, p.output.String())
		case <-late:
			return errors.New(p.cmd.Path + " did not become ready in time")
		}
	}
	return nil
}
