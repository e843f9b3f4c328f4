package term

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStatusLine checks that the line is drawn only if it changes, stays below what is
// logged, and leaves nothing behind.
func TestStatusLine(t *testing.T) {
	var b bytes.Buffer
	l := NewStatusLine(&b)
	l.Write([]byte("before\n"))
	l.Set("one")
	l.Set("one")
	l.Write([]byte("log\n"))
	l.Set("two")
	l.Set("")
	l.Write([]byte("after\n"))
	const e = "\r\x1b[K"
	if diff := cmp.Diff("before\n"+e+"one"+e+"log\none"+e+"two"+e+"after\n", b.String()); diff != "" {
		t.Error(diff)
	}
}

// buffer can be read while a timer writes to it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestProgress checks that the text appears after half a second, and is removed.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b buffer
		done := showProgress(&b, "Waiting")
		time.Sleep(499 * time.Millisecond)
		done()
		time.Sleep(time.Second)
		if b.String() != "" {
			t.Errorf("too early: %q", b.String())
		}
		done = showProgress(&b, "Waiting")
		time.Sleep(501 * time.Millisecond)
		synctest.Wait()
		if b.String() != "Waiting…" {
			t.Errorf("%q", b.String())
		}
		done()
		done()
		if b.String() != "Waiting…\r\x1b[K" {
			t.Errorf("%q", b.String())
		}
	})
}
