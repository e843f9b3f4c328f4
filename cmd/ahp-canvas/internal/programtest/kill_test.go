package programtest

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func unmarshalLoosely(raw []byte, into any) error { return json.Unmarshal(raw, into) }

// runs returns how often a host or a relay is stopped or killed in a test: a few times, or
// often with AHP_LONG. AHP_LIVES overrides it, so that a long form can run in parts.
func runs(short, long int) int {
	if n, err := strconv.Atoi(os.Getenv("AHP_LIVES")); err == nil && n > 0 {
		return n
	}
	if os.Getenv("AHP_LONG") != "" {
		return long
	}
	return short
}

// TestKill kills a host under load at random times. What it has answered must be true
// afterwards, and what it has closed must stay closed.
func TestKill(t *testing.T) {
	m, l := newMachine(t), newLedger()
	n, wrongs := runs(10, 200), 0
	for run := range n {
		s := m.serve()
		for _, wrong := range l.audit(t, s) {
			t.Errorf("run %d: %s", run, wrong)
			wrongs++
		}
		l.work(t, s, run, func() {
			after(50*time.Millisecond + rand.N(300*time.Millisecond))
			_ = s.cmd.Process.Kill()
			<-s.done
		})
	}
	for _, wrong := range l.audit(t, m.serve()) {
		t.Errorf("last run: %s", wrong)
		wrongs++
	}
	t.Logf("%d kills: %d answers, %d calls without one, %d answers were untrue afterwards", n, l.answered, l.silent, wrongs)
	if l.answered < 20*n {
		t.Errorf("%d answers are too few for a load", l.answered)
	}
}

// TestStopUnderLoad checks that a host that stops answers what it accepted, and that what
// it did not answer was not done.
func TestStopUnderLoad(t *testing.T) {
	m, l := newMachine(t), newLedger()
	n := runs(3, 30)
	for run := range n {
		s := m.serve()
		l.work(t, s, run, func() {
			after(100*time.Millisecond + rand.N(200*time.Millisecond))
			if status := s.stop(syscall.SIGTERM); status != 0 {
				t.Errorf("exit status %d: %s", status, s.errs)
			}
		})
		s = m.serve()
		for _, wrong := range l.audit(t, s) {
			t.Errorf("run %d: %s", run, wrong)
		}
		for id, would := range l.asked {
			if got, board := l.boards[id]; board && got == would || !board && l.sessions[id] == would {
				t.Errorf("run %d: %s was done without an answer", run, id)
			}
		}
		clear(l.asked)
		s.stop(syscall.SIGTERM)
	}
	t.Logf("%d stops: %d answers, all true afterwards; %d calls were not accepted", n, l.answered, l.silent)
}

// after waits for a time. It is for moments that no event marks.
func after(d time.Duration) {
	<-time.After(d)
}
