package extension

import (
	"os/exec"
	"runtime"
)

// starter starts processes on one thread that lives as long as it: on Linux a
// process is killed when the thread that started it ends.
type starter struct {
	asked chan start
	done  chan struct{}
}

type start struct {
	cmd    *exec.Cmd
	answer chan error
}

func newStarter() *starter {
	s := &starter{make(chan start), make(chan struct{})}
	go s.run()
	return s
}

func (s *starter) run() {
	defer close(s.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ask := range s.asked {
		ask.answer <- ask.cmd.Start()
	}
}

// start is cmd.Start. It is not called after Close.
func (s *starter) start(cmd *exec.Cmd) error {
	answer := make(chan error)
	s.asked <- start{cmd, answer}
	return <-answer
}

// Close ends the thread, when no process is left.
func (s *starter) Close() {
	close(s.asked)
	<-s.done
}
