package ahptest

import (
	"os"
	"strings"
	"testing"
)

// recorder is a testing.TB that keeps what a gate says.
type recorder struct {
	testing.TB
	cleanups []func()
	said     []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Failed() bool     { return false }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, _ ...any) {
	r.said = append(r.said, format)
}

func (r *recorder) end() string {
	for _, f := range r.cleanups {
		f()
	}
	return strings.Join(r.said, "; ")
}

func TestLeaksFindsAGoroutine(t *testing.T) {
	r := &recorder{TB: t}
	Leaks(r)
	stop := make(chan struct{})
	go func() { <-stop }()
	if said := r.end(); !strings.Contains(said, "goroutines") {
		t.Errorf("said %q", said)
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
	if said := r.end(); !strings.Contains(said, "descriptors") {
		t.Errorf("said %q", said)
	}
	f.Close()
}

func TestLeaksIsQuietAboutWhatEnded(t *testing.T) {
	r := &recorder{TB: t}
	Leaks(r)
	done := make(chan struct{})
	go close(done)
	<-done
	if said := r.end(); said != "" {
		t.Errorf("said %q", said)
	}
}
