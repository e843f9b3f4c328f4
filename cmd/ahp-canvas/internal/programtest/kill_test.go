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

// lives is how often a host or a relay is ended in a test: a few times, or with
// AHP_LONG often. AHP_LIVES is another number, for a long form in pieces.
func lives(short, long int) int {
	if n, err := strconv.Atoi(os.Getenv("AHP_LIVES")); err == nil && n > 0 {
		return n
	}
	if os.Getenv("AHP_LONG") != "" {
		return long
	}
	return short
}

// TestKill: a real host under load is killed at any time. What it answered is
// true afterwards, and what it ended has not risen (security.md, figures).
func TestKill(t *testing.T) {
	m, l := newMachine(t), newLedger()
	n, wrongs := lives(10, 200), 0
	for life := range n {
		s := m.serve()
		for _, wrong := range l.audit(t, s) {
			t.Errorf("life %d: %s", life, wrong)
			wrongs++
		}
		l.work(t, s, life, func() {
			after(50*time.Millisecond + rand.N(300*time.Millisecond))
			_ = s.cmd.Process.Kill()
			<-s.done
		})
	}
	for _, wrong := range l.audit(t, m.serve()) {
		t.Errorf("last life: %s", wrong)
		wrongs++
	}
	t.Logf("%d kills: %d answers, %d calls without one, %d answers untrue afterwards", n, l.answered, l.silent, wrongs)
	if l.answered < 20*n {
		t.Errorf("%d answers are hardly a load", l.answered)
	}
}

// TestStopUnderLoad: a host that is told to stop answers what it accepted. What
// got no answer was not done.
func TestStopUnderLoad(t *testing.T) {
	m, l := newMachine(t), newLedger()
	n := lives(3, 30)
	for life := range n {
		s := m.serve()
		l.work(t, s, life, func() {
			after(100*time.Millisecond + rand.N(200*time.Millisecond))
			if status := s.stop(syscall.SIGTERM); status != 0 {
				t.Errorf("exit status %d: %s", status, s.errs)
			}
		})
		s = m.serve()
		for _, wrong := range l.audit(t, s) {
			t.Errorf("life %d: %s", life, wrong)
		}
		for id, would := range l.asked {
			if got, board := l.boards[id]; board && got == would || !board && l.sessions[id] == would {
				t.Errorf("life %d: %s was done, and nobody was answered", life, id)
			}
		}
		clear(l.asked)
		s.stop(syscall.SIGTERM)
	}
	t.Logf("%d stops: %d answers, all true afterwards; %d calls came too late to be accepted", n, l.answered, l.silent)
}

// after waits for a moment that nothing else tells.
func after(d time.Duration) {
	<-time.After(d)
}
