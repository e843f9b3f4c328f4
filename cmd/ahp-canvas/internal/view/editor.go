package view

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// maxText is the largest file, in bytes: the editor keeps and shows it as a whole.
const maxText = 1 << 20

// editor is one text file: the text in the editor, and the last known text on disk.
type editor struct {
	name, path string
	out        io.Writer
	changed    chan struct{} // buffers one value: summary might have changed

	mu          sync.Mutex
	text, saved string
	version     int
	conflict    bool // the disk has neither text
}

// summary is what people see of the editor.
type summary struct{ title, status, path string }

func openEditor(name string, out io.Writer) (*editor, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	e := &editor{name: filepath.Base(path), path: path, out: &syncWriter{w: out}, changed: make(chan struct{}, 1)}
	if e.saved, err = e.readDisk(); err != nil {
		return nil, err
	}
	e.text = e.saved
	return e, nil
}

func (e *editor) readDisk() (string, error) {
	info, err := os.Stat(e.path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return "", fmt.Errorf("%s: want a file of at most %d bytes", e.name, maxText)
	}
	data, err := os.ReadFile(e.path)
	if err == nil && !utf8.Valid(data) {
		err = fmt.Errorf("%s is not UTF-8 text", e.name)
	}
	return string(data), err
}

// checkDisk takes over what other programs wrote to the file, unless that would lose text
// that is not saved.
func (e *editor) checkDisk() {
	disk, err := e.readDisk()
	e.mu.Lock()
	defer e.mu.Unlock()
	switch was := e.conflict; {
	case err != nil || disk != e.saved && e.text != e.saved && disk != e.text:
		if e.conflict = true; !was {
			fmt.Fprintf(e.out, "%s has changed on disk; the editor keeps its unsaved text.\n", term.Printable(e.name))
		}
	case disk != e.saved:
		fmt.Fprintf(e.out, "%s has changed on disk; the editor shows the new text.\n", term.Printable(e.name))
		e.put(disk, disk)
	default:
		e.conflict = false
	}
}

// put sets both texts. The caller holds the mutex.
func (e *editor) put(text, saved string) {
	if text != e.text {
		e.version++
	}
	e.text, e.saved, e.conflict = text, saved, false
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

func (e *editor) summary() summary {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := summary{title: term.Printable(e.name), status: "saved", path: fmt.Sprintf("/?v=%d", e.version)}
	switch {
	case e.conflict:
		s.status = "changed on disk too"
	case e.text != e.saved:
		s.status = "not saved"
	}
	return s
}

// current returns the file's name and the text in the editor.
func (e *editor) current() (name, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.name, e.text
}

// excerptLines is how many lines of the file a person sees when it is opened.
const excerptLines = 20

// excerpt returns the first lines.
func (e *editor) excerpt() string {
	_, text := e.current()
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > excerptLines {
			b.WriteString("  | …\n")
			break
		}
		fmt.Fprintf(&b, "  | %s\n", term.Printable(strings.TrimRight(line, "\r\n")))
	}
	return b.String()
}

// action returns a canvas action that runs under the mutex and prints what it did.
func (e *editor) action(done string, run func(input ahp.Value) (any, error)) func(context.Context, ahp.Value) (ahp.Value, error) {
	return func(_ context.Context, input ahp.Value) (ahp.Value, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		result, err := run(input)
		if err != nil {
			fmt.Fprintf(e.out, "An action of the agent failed: %s\n", term.Printable(err.Error()))
			return nil, err
		}
		fmt.Fprintln(e.out, done)
		return ahp.Marshal(result)
	}
}

// textResult is the result of get_text and read.
type textResult struct {
	Text  string `json:"text"`
	Saved bool   `json:"saved"`
}

// app returns the actions of editorDeclaration.
func (e *editor) app() *canvas.App {
	result := func() (any, error) { return textResult{e.text, e.text == e.saved}, nil }
	return &canvas.App{Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){
		"get_text": e.action("The agent read the text.", func(ahp.Value) (any, error) { return result() }),
		"read": e.action("The agent read the file again.", func(ahp.Value) (any, error) {
			disk, err := e.readDisk()
			if err != nil {
				return nil, err
			}
			e.put(disk, disk)
			return result()
		}),
		"replace_text": e.action("The agent replaced text.", e.replace),
		"append":       e.action("The agent added text.", e.append),
		"save":         e.action("The agent saved the file.", e.save),
	}}
}

func (e *editor) replace(input ahp.Value) (any, error) {
	var in struct {
		Find    string `json:"find"`
		Replace string `json:"replace"`
	}
	if err := ahp.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	if n := strings.Count(e.text, in.Find); n != 1 {
		return nil, canvas.Errorf("text_not_unique", "the text to find occurs %d times, want once; include more of the text around it", n)
	}
	return e.setText(strings.Replace(e.text, in.Find, in.Replace, 1))
}

func (e *editor) append(input ahp.Value) (any, error) {
	var in struct {
		Text string `json:"text"`
	}
	if err := ahp.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	return e.setText(e.text + in.Text)
}

func (e *editor) setText(text string) (any, error) {
	if len(text) > maxText {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "the text would have %d bytes; the limit is %d", len(text), maxText)
	}
	e.put(text, e.saved)
	return struct{}{}, nil
}

func (e *editor) save(ahp.Value) (any, error) {
	disk, err := e.readDisk()
	if err == nil && disk != e.saved {
		err = canvas.Errorf("changed_on_disk", "the file has changed on disk; use read, and make the change again")
	}
	if err == nil {
		err = os.WriteFile(e.path, []byte(e.text), 0o600) // it exists, and keeps its mode
	}
	if err != nil {
		return nil, err
	}
	e.put(e.text, e.text)
	return struct{}{}, nil
}

// syncWriter is a writer that several goroutines can use.
type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *syncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
