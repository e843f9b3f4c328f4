package conform

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// maxRecording bounds what a Recorder holds, in bytes of frames.
const maxRecording = 64 << 20

// ErrRecordingFull is what WriteTo returns where the exchange was longer than a
// recording may be; its beginning is written.
var ErrRecordingFull = errors.New("the exchange is longer than a recording may be (64 MiB): only its beginning was written")

// Recorder is a [Watcher] that keeps an exchange and writes it as a transcript.
//
// Frames of clients are kept to the letter and so are ids. What would be another
// one the next time becomes a name or "$*": sequence numbers, times, the text of
// errors, canvas channels, the host's own request ids, and the state of what was
// there before the recording. Tokens are never written: neither the one that a
// client presented nor what authenticate carries.
type Recorder struct {
	// Title stands at the top of the transcript.
	Title string

	mu      sync.Mutex
	entries []entry
	size    int
	full    bool
	over    bool
	gone    map[Link]bool
	secrets []string
}

// entry is one thing that happened.
type entry struct {
	link   Link
	op     byte // '>' '<' 'o'pen, 'c'lose by the client, 'x' cut, 'h' close by the host
	frame  string
	closed ws.CloseCode
}

// Opened implements Watcher.
func (r *Recorder) Opened(l Link, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(token) >= 4 { // a shorter one would be found everywhere, and is no secret
		r.secrets = append(r.secrets, token)
	}
	r.add(entry{link: l, op: 'o'})
}

// Frame implements Watcher.
func (r *Recorder) Frame(l Link, toHost bool, frame []byte) [][]byte {
	op := byte('<')
	if toHost {
		op = '>'
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(entry{link: l, op: op, frame: string(frame)})
	return [][]byte{frame}
}

// Ended implements Watcher.
func (r *Recorder) Ended(l Link, byHost bool, code ws.CloseCode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	op := byte('c')
	switch {
	case byHost:
		op = 'h'
	case code == ws.CodeLost:
		op = 'x'
	}
	r.add(entry{link: l, op: op, closed: code})
	if r.gone == nil {
		r.gone = map[Link]bool{}
	}
	r.gone[l] = true
}

func (r *Recorder) add(e entry) {
	if r.size += len(e.frame); r.size > maxRecording {
		r.full = true
	}
	if !r.full && !r.over && !r.gone[e.link] {
		r.entries = append(r.entries, e)
	}
}

// Stop ends the recording: what comes after it, as the end of connections that
// the proxy closes, is no part of it.
func (r *Recorder) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// Frames is how many frames were recorded so far.
func (r *Recorder) Frames() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if e.op == '>' || e.op == '<' {
			n++
		}
	}
	return n
}

// WriteTo writes the transcript. It implements io.WriterTo.
func (r *Recorder) WriteTo(w io.Writer) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := newScribe(r.entries, r.secrets)
	var b strings.Builder
	fmt.Fprintf(&b, "# title: %s\n# rule: OURS a recording: say which rule it shows\n", oneLine(r.Title))
	if needs := t.needs(); needs != "" {
		fmt.Fprintf(&b, "# needs: %s\n", needs)
	}
	if sessions := t.sessionsBefore(); sessions != "" {
		fmt.Fprintf(&b, "# sessions: %s\n", sessions)
	}
	for _, e := range r.entries {
		b.WriteString(t.line(e) + "\n")
	}
	n, err := io.WriteString(w, b.String())
	if err == nil && r.full {
		err = ErrRecordingFull
	}
	return int64(n), err
}

func oneLine(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return "a recorded exchange"
	}
	return s
}

// message is what a scribe looks at in a frame.
type message struct {
	ID     ahp.Value `json:"id,omitzero"`
	Method string    `json:"method,omitzero"`
	Params struct {
		Channel           string    `json:"channel,omitzero"`
		LastSeenServerSeq ahp.Value `json:"lastSeenServerSeq,omitzero"`
	} `json:"params,omitzero"`
	Result ahp.Value `json:"result,omitzero"`
}
