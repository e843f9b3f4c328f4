package extension

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	ringSize  = 64 << 10  // of what is not on disk yet
	fileSize  = 256 << 10 // of one of the two files
	flushTime = 50 * time.Millisecond
)

// logbook is an extension's log: a file, and before it a ring that takes what
// the file does not take in time. Writing to it never waits for a disk.
type logbook struct {
	name string // of the file; the older one has ".1" behind it

	mu      sync.Mutex
	ring    []byte
	dropped int
	closed  bool
	more    chan struct{} // has room for one
	done    chan struct{}
}

func newLogbook(name string) *logbook {
	l := &logbook{name: name, more: make(chan struct{}, 1), done: make(chan struct{})}
	go l.run()
	return l
}

// Write keeps p for the file. Where the ring is full, its oldest bytes go.
func (l *logbook) Write(p []byte) (int, error) {
	n := len(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return n, nil
	}
	var lost int
	l.ring, lost = tail(l.ring, p, ringSize)
	l.dropped += lost
	select {
	case l.more <- struct{}{}:
	default:
	}
	return n, nil
}

// tail appends p to a buffer of which only the newest bytes are kept.
func tail(buf, p []byte, size int) (out []byte, lost int) {
	if lost = len(buf) + len(p) - size; lost <= 0 {
		return append(buf, p...), 0
	}
	if len(p) >= size {
		return append(buf[:0], p[len(p)-size:]...), lost
	}
	return append(buf[:copy(buf, buf[lost:])], p...), lost
}

// note writes a line of the host's own: what became of a process.
func (l *logbook) note(format string, args ...any) {
	fmt.Fprintf(l, "["+time.Now().UTC().Format(time.RFC3339)+" ahp-canvas] "+format+"\n", args...)
}

// Close writes what is left and ends the log.
func (l *logbook) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.more)
	}
	l.mu.Unlock()
	<-l.done
}

// run brings the ring to the file, a few times a second at most.
func (l *logbook) run() {
	defer close(l.done)
	f := &rotating{name: l.name}
	defer f.close()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for range l.more {
		<-pause.C
		f.write(l.take())
		pause.Reset(flushTime)
	}
	f.write(l.take())
}

// take empties the ring.
func (l *logbook) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, dropped := bytes.Clone(l.ring), l.dropped
	l.ring, l.dropped = l.ring[:0], 0
	if dropped > 0 {
		out = append(fmt.Appendf(nil, "\n[ahp-canvas] %d bytes were lost here\n", dropped), out...)
	}
	return out
}

// rotating is a file that is begun anew when it is full; the one before it is
// kept. What cannot be written is lost.
type rotating struct {
	name string
	file *os.File
	size int
}

func (r *rotating) write(p []byte) {
	if len(p) == 0 || !r.open() {
		return
	}
	if r.size > 0 && r.size+len(p) > fileSize {
		r.close()
		if os.Rename(r.name, r.name+".1") != nil || !r.open() {
			return
		}
	}
	n, _ := r.file.Write(p)
	r.size += n
}

// open opens the file where it is not open, and goes on where the last run ended.
func (r *rotating) open() bool {
	if r.file != nil {
		return true
	}
	file, err := os.OpenFile(r.name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return false
	}
	r.file, r.size = file, 0
	if info, err := file.Stat(); err == nil {
		r.size = int(info.Size())
	}
	return true
}

func (r *rotating) close() {
	if r.file != nil {
		_ = r.file.Close()
		r.file = nil
	}
}

// ReadLog returns what is kept of an extension's log, the oldest first. It is
// called with the LogDir of a runner of any process.
func ReadLog(dir, id string) ([]byte, error) {
	name := logName(dir, id)
	older, err := os.ReadFile(name + ".1")
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	newer, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return append(older, newer...), nil
}
