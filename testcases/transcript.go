package testcases

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed transcripts
var transcriptFiles embed.FS

// Transcript is a file of real messages (README.md has the format): messages to
// send, messages to expect, and events in between.
type Transcript struct {
	Name  string            // the file's path in transcripts/, without extension
	Meta  map[string]string // the "# key: value" lines at the top
	Steps []Step            // in order
}

// Step is a line of a transcript.
type Step struct {
	Line int // the line's number in the file
	Op   Op  // what the step does
	// Conn names the connection; "a" if the line names none.
	Conn string
	// Text is the frame, the expectation, or the operation's argument.
	Text  string
	Times int           // how often OpSend sends the frame; 0 means once
	Wait  time.Duration // the duration of OpClock
}

// Op is the operation of a step.
type Op uint8

// The operations, with their syntax.
const (
	OpSend       Op = iota // NAME> TEXT: send a text frame verbatim; NAME>*9 TEXT sends it 9 times
	OpExpect               // NAME< JSON: expect the next frame, compared as JSON
	OpSilence              // NAME<!: expect no frame
	OpClosed               // NAME<close CODE: expect that the host closes with this code
	OpFlooded              // NAME<...close CODE: the same, after any number of frames
	OpOpen                 // open NAME [k=v]: dial a connection ("a" is dialed automatically)
	OpCut                  // cut NAME: break the connection without a close frame
	OpClose                // close NAME: the client closes the connection
	OpClock                // @ 30s: let time pass
	OpAgentCall            // agent> TOOL ARGS: start a call of the agent
	OpAgentValue           // agent< JSON: expect the call's result
	OpAgentError           // agent<error JSON: expect the call's failure
	OpHost                 // host WORD ARGS: make something happen inside the host
	OpQuiet                // NAME>!: expect that the client has sent nothing (client side only)
	OpMaybe                // NAME>? JSON: expect the client's next frame, if it sends one (client side only)
	OpClient               // client WORD ARGS: make the user of the client do something (client side only)
)

// Transcripts returns the transcripts that test hosts, sorted by name.
func Transcripts() ([]*Transcript, error) { return readTranscripts(SideHost) }

// ClientTranscripts returns the transcripts that test clients, sorted by name.
func ClientTranscripts() ([]*Transcript, error) { return readTranscripts(SideClient) }

func readTranscripts(side string) ([]*Transcript, error) {
	var all []*Transcript
	err := fs.WalkDir(transcriptFiles, "transcripts", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(p) != ".txt" {
			return err
		}
		data, err := transcriptFiles.ReadFile(p)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(p, "transcripts/"), ".txt")
		t, err := ParseTranscript(name, string(data))
		if err != nil {
			return err
		}
		if t.Side() == side {
			all = append(all, t)
		}
		return nil
	})
	return all, err
}

// ParseTranscript parses a transcript. Its errors name the line.
func ParseTranscript(name, text string) (*Transcript, error) {
	t := &Transcript{Name: name, Meta: map[string]string{}}
	sc := bufio.NewScanner(strings.NewReader(text))
	sc.Buffer(nil, 8<<20)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		switch {
		case line == "":
		case strings.HasPrefix(line, "#"):
			t.addMeta(line)
		default:
			step, err := parseStep(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			step.Line = n
			t.Steps = append(t.Steps, step)
		}
	}
	if t.Meta["title"] == "" || t.Meta["rule"] == "" {
		return nil, fmt.Errorf("%s: a transcript needs a '# title:' and a '# rule:' line", name)
	}
	return t, sc.Err()
}

// addMeta records a "# key: value" line above the first step. Other comments
// are ignored.
func (t *Transcript) addMeta(line string) {
	key, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "#")), ":")
	if ok && len(t.Steps) == 0 && !strings.ContainsAny(key, " \t") {
		t.Meta[key] = strings.TrimSpace(value)
	}
}

func parseStep(line string) (Step, error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "@":
		d, err := time.ParseDuration(rest)
		return Step{Op: OpClock, Wait: d}, err
	case "open", "cut", "close":
		name, args, _ := strings.Cut(rest, " ")
		op := map[string]Op{"open": OpOpen, "cut": OpCut, "close": OpClose}[word]
		return Step{Op: op, Conn: name, Text: args}, nil
	case "client":
		return Step{Op: OpClient, Text: rest}, nil
	case "host":
		return Step{Op: OpHost, Text: rest}, nil
	case "agent>":
		return Step{Op: OpAgentCall, Text: rest}, nil
	case "agent<":
		return Step{Op: OpAgentValue, Text: rest}, nil
	case "agent<error":
		return Step{Op: OpAgentError, Text: rest}, nil
	}
	return parseFrameStep(word, rest)
}

func parseFrameStep(word, rest string) (Step, error) {
	i := strings.IndexAny(word, "<>")
	if i < 0 {
		return Step{}, fmt.Errorf("unknown step %q", word)
	}
	step := Step{Conn: word[:i], Text: rest}
	if step.Conn == "" {
		step.Conn = "a"
	}
	verb := word[i:]
	if times, ok := strings.CutPrefix(verb, ">*"); ok {
		n, err := strconv.Atoi(times)
		if err != nil || n < 1 {
			return Step{}, fmt.Errorf("%q: want a number of times, as in >*9", word)
		}
		step.Times, verb = n, ">"
	}
	op, ok := frameOps[verb]
	if !ok {
		return Step{}, fmt.Errorf("unknown step %q", word)
	}
	step.Op = op
	if op == OpClosed || op == OpFlooded {
		if _, err := strconv.Atoi(rest); err != nil {
			return Step{}, fmt.Errorf("close code: %w", err)
		}
	}
	return step, nil
}

// frameOps are the operations on a connection, by what follows its name.
var frameOps = map[string]Op{
	">": OpSend, "<": OpExpect, ">?": OpMaybe, ">!": OpQuiet, "<!": OpSilence, "<close": OpClosed, "<...close": OpFlooded,
}
