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

// maxRecording limits the frames that a Recorder holds, in bytes.
const maxRecording = 64 << 20

// ErrRecordingFull is returned by WriteTo if the exchange was too long. WriteTo
// has then written its beginning.
var ErrRecordingFull = errors.New("the exchange exceeds 64 MiB; only its beginning was written")

// Recorder is a [Watcher] that records an exchange and writes it as a
// transcript.
//
// Frames of clients are kept verbatim, and so are their ids. Values that change
// from run to run become a name or "$*": sequence numbers, times, the texts of
// errors, canvas channels, the host's own request ids, and the state of
// sessions that existed before the recording. Tokens are never written: neither
// those that clients present nor those in authenticate.
type Recorder struct {
	// Title is the title of the transcript.
	Title string

	mu      sync.Mutex
	entries []entry
	size    int
	full    bool
	stopped bool
	ended   map[Link]bool
	secrets []string
}

// entry is an event of the exchange.
type entry struct {
	link   Link
	op     byte // '>' '<' 'o'pen, 'c'lose by the client, 'x' cut, 'h' close by the host
	frame  string
	closed ws.CloseCode
}

// Opened records the opening of a connection, and its token as a secret.
func (r *Recorder) Opened(l Link, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(token) >= 4 { // a shorter text would occur by chance, and is no secret
		r.secrets = append(r.secrets, token)
	}
	r.add(entry{link: l, op: 'o'})
}

// Frame records a frame and forwards it unchanged.
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

// Ended records the end of a connection.
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
	if r.ended == nil {
		r.ended = map[Link]bool{}
	}
	r.ended[l] = true
}

func (r *Recorder) add(e entry) {
	if r.size += len(e.frame); r.size > maxRecording {
		r.full = true
	}
	if !r.full && !r.stopped && !r.ended[e.link] {
		r.entries = append(r.entries, e)
	}
}

// Stop ends the recording. Later events, such as connections that the proxy
// closes, are not recorded.
func (r *Recorder) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

// Frames returns the number of frames recorded so far.
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

// WriteTo writes the transcript (see io.WriterTo).
func (r *Recorder) WriteTo(w io.Writer) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := newTranscriber(r.entries, r.secrets)
	var b strings.Builder
	fmt.Fprintf(&b, "# title: %s\n# rule: OURS a recording: name the rule that it tests\n", oneLine(r.Title))
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

// message has the members of a frame that a transcriber needs.
type message struct {
	ID     ahp.Value `json:"id,omitzero"`
	Method string    `json:"method,omitzero"`
	Params struct {
		Channel           string    `json:"channel,omitzero"`
		LastSeenServerSeq ahp.Value `json:"lastSeenServerSeq,omitzero"`
	} `json:"params,omitzero"`
	Result ahp.Value `json:"result,omitzero"`
}
