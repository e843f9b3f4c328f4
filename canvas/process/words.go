package process

import (
	"strings"
	"sync"
	"unicode"
)

// Limits of the standard error that an error message quotes.
const (
	outputBytes = 2 << 10
	outputLines = 24
)

// Words keeps the end of a process's output, for error messages. It is safe for concurrent
// use.
type Words struct {
	mu  sync.Mutex
	buf []byte
}

// Add adds output.
func (w *Words) Add(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf, _ = tail(w.buf, p, outputBytes)
}

// String returns the last lines as plain text, without terminal colors, control
// characters and invalid UTF-8.
func (w *Words) String() string {
	w.mu.Lock()
	text := string(w.buf)
	full := len(w.buf) == outputBytes
	w.mu.Unlock()
	if _, rest, ok := strings.Cut(text, "\n"); ok && full {
		text = rest // the first line is cut off
	}
	lines := strings.Split(strings.TrimSpace(plain(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-outputLines):], "\n")
}

// plain removes terminal escape sequences and control characters.
func plain(text string) string {
	var out strings.Builder
	inEscape := false
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case inEscape: // ESC [ 3 1 m
			inEscape = r == '[' || r == ';' || r >= '0' && r <= '9'
		case r == '\x1b':
			inEscape = true
		case r == '\n' || !unicode.IsControl(r):
			out.WriteRune(r)
		case r == '\t':
			out.WriteString("    ")
		}
	}
	return out.String()
}
