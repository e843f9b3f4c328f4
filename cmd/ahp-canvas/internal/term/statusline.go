package term

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// StatusLine is the last line of a terminal, which is redrawn in place. What is
// written through it, such as a log, appears above it.
type StatusLine struct {
	mu   sync.Mutex
	w    io.Writer
	text string // "" shows no line
}

// NewStatusLine returns a status line at the end of w.
func NewStatusLine(w io.Writer) *StatusLine { return &StatusLine{w: w} }

// Write writes whole lines above the status line.
func (l *StatusLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return l.w.Write(p)
	}
	var b bytes.Buffer
	b.WriteString(eraseLine)
	b.Write(p)
	b.WriteString(l.text)
	if _, err := b.WriteTo(l.w); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Set replaces the text of the line; "" removes the line.
func (l *StatusLine) Set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text == l.text {
		return
	}
	l.text = text
	fmt.Fprint(l.w, eraseLine+text) // if the terminal is gone, nothing can be done
}
