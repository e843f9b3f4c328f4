package extension

import (
	"strings"
	"sync"
	"unicode"
)

// Bounds of what an error quotes of an extension's standard error.
const (
	wordsBytes = 2 << 10
	wordsLines = 24
)

// words keeps the end of what a process says.
type words struct {
	mu  sync.Mutex
	buf []byte
}

func (w *words) add(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf, _ = tail(w.buf, p, wordsBytes)
}

// String is the last lines, as plain text: without colours, control characters
// and broken letters.
func (w *words) String() string {
	w.mu.Lock()
	text := string(w.buf)
	full := len(w.buf) == wordsBytes
	w.mu.Unlock()
	if _, rest, ok := strings.Cut(text, "\n"); ok && full {
		text = rest // the first line is the end of one
	}
	lines := strings.Split(strings.TrimSpace(plain(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-wordsLines):], "\n")
}

// plain takes out terminal sequences and what else is not for a message.
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
