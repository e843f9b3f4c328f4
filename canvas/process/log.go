package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	ringSize      = 64 << 10              // bytes that are not on disk yet
	fileSize      = 256 << 10             // limit of each of the two files
	flushInterval = 50 * time.Millisecond // minimum time between two writes
)

// Log is the log of a program: a file, and a ring that buffers text until it is
// written. Write never waits for the disk.
type Log struct {
	name string // file name; the older file has the suffix ".1"

	mu      sync.Mutex
	ring    []byte
	dropped int
	closed  bool
	more    chan struct{} // capacity 1; wakes the writer
	done    chan struct{}
}

// OpenLog returns the log of the program id in dir. The file is created with the first text.
// The log must be closed.
func OpenLog(dir, id string) *Log {
	name := logName(dir, id)
	l := &Log{name: name, more: make(chan struct{}, 1), done: make(chan struct{})}
	go l.run()
	return l
}

// Write queues p for the file. If the ring is full, its oldest bytes are lost.
func (l *Log) Write(p []byte) (int, error) {
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

// tail appends p to buf and keeps the newest size bytes. lost is the number of bytes
// that it dropped, if positive.
func tail(buf, p []byte, size int) (out []byte, lost int) {
	if lost = len(buf) + len(p) - size; lost <= 0 {
		return append(buf, p...), 0
	}
	if len(p) >= size {
		return append(buf[:0], p[len(p)-size:]...), lost
	}
	return append(buf[:copy(buf, buf[lost:])], p...), lost
}

// Note writes a line of the host about a process.
func (l *Log) Note(format string, args ...any) {
	fmt.Fprintf(l, "["+time.Now().UTC().Format(time.RFC3339)+" ahp-canvas] "+format+"\n", args...)
}

// Close writes the buffered text and closes the log.
func (l *Log) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.more)
	}
	l.mu.Unlock()
	<-l.done
}

// run writes the ring to the file, at most once per flushInterval.
func (l *Log) run() {
	defer close(l.done)
	f := &rotating{name: l.name}
	defer f.close()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for range l.more {
		<-pause.C
		f.write(l.take())
		pause.Reset(flushInterval)
	}
	f.write(l.take())
}

// take returns the ring's content and empties it.
func (l *Log) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, dropped := bytes.Clone(l.ring), l.dropped
	l.ring, l.dropped = l.ring[:0], 0
	if dropped > 0 {
		out = append(fmt.Appendf(nil, "\n[ahp-canvas] %d bytes were lost here\n", dropped), out...)
	}
	return out
}

// rotating is a log file. When it is full, it replaces the older file, and a new file
// starts. Text that cannot be written is lost.
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

// open opens the file for appending, unless it is open. It reports success.
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

// ReadLog returns the log of the program id in dir, oldest text first. Another process may
// write it.
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

func logName(dir, id string) string { return filepath.Join(dir, id+".log") }
