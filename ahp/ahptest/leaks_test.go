package ahptest

import (
	"os"
	"strings"
	"testing"
)

// recorder is a testing.TB that records errors.
type recorder struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Failed() bool     { return false }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, _ ...any) {
	r.errors = append(r.errors, format)
}

func (r *recorder) end() string {
	for _, f := range r.cleanups {
		f()
	}
	return strings.Join(r.errors, "; ")
}

func TestLeaksFindsAGoroutine(t *testing.T) {
	r := &recorder{TB: t}
	Leaks(r)
	stop := make(chan struct{})
	go func() { <-stop }()
	if errors := r.end(); !strings.Contains(errors, "goroutines") {
		t.Errorf("errors: %q", errors)
	}
	close(stop)
}

func TestLeaksFindsADescriptor(t *testing.T) {
	if Descriptors() < 0 {
		t.Skip("this system does not count descriptors")
	}
	r := &recorder{TB: t}
	Leaks(r)
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if errors := r.end(); !strings.Contains(errors, "descriptors") {
		t.Errorf("errors: %q", errors)
	}
	f.Close()
}

func TestLeaksIgnoresEndedGoroutines(t *testing.T) {
	r := &recorder{TB: t}
	Leaks(r)
	done := make(chan struct{})
	go close(done)
	<-done
	if errors := r.end(); errors != "" {
		t.Errorf("errors: %q", errors)
	}
}
