package process

import (
	"os/exec"
	"runtime"
)

// Starter starts processes on one thread, which lives until Close. On Linux the kernel
// kills a process when the thread that started it ends.
type Starter struct {
	asked chan start
	done  chan struct{}
}

// start is a request to start a process.
type start struct {
	cmd    *exec.Cmd
	answer chan error
}

// NewStarter returns a Starter, which must be closed.
func NewStarter() *Starter {
	s := &Starter{make(chan start), make(chan struct{})}
	go s.run()
	return s
}

func (s *Starter) run() {
	defer close(s.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ask := range s.asked {
		ask.answer <- ask.cmd.Start()
	}
}

// Start calls cmd.Start on the starter's thread. It must not be called after [Starter.Close].
func (s *Starter) Start(cmd *exec.Cmd) error {
	answer := make(chan error)
	s.asked <- start{cmd, answer}
	return <-answer
}

// Close ends the thread. On Linux this kills the processes that still run.
func (s *Starter) Close() {
	close(s.asked)
	<-s.done
}
