package main

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
)

// maxText bounds the file, in bytes: it is kept and shown as a whole.
const maxText = 1 << 20

// editor is one text file: the text as it stands, and as the disk has it.
type editor struct {
	name, path string
	out        io.Writer
	changed    chan struct{} // holds one: shown may say something else

	mu          sync.Mutex
	text, saved string
	version     int
	differs     bool // the disk has neither text
}

// shown is what people see of the editor.
type shown struct{ title, status, path string }

func openEditor(name string, out io.Writer) (*editor, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	e := &editor{name: filepath.Base(path), path: path, out: &lines{w: out}, changed: make(chan struct{}, 1)}
	if e.saved, err = e.disk(); err != nil {
		return nil, err
	}
	e.text = e.saved
	return e, nil
}

// disk reads the file.
func (e *editor) disk() (string, error) {
	info, err := os.Stat(e.path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return "", fmt.Errorf("%s: want a file of at most %d bytes", e.name, maxText)
	}
	data, err := os.ReadFile(e.path)
	if err == nil && !utf8.Valid(data) {
		err = fmt.Errorf("%s is no text in UTF-8", e.name)
	}
	return string(data), err
}

// look takes over what others wrote to the file, unless that would lose a text
// that is not saved.
func (e *editor) look() {
	disk, err := e.disk()
	e.mu.Lock()
	defer e.mu.Unlock()
	switch was := e.differs; {
	case err != nil || disk != e.saved && e.text != e.saved && disk != e.text:
		if e.differs = true; !was {
			fmt.Fprintf(e.out, "%s is another one on disk now.\n", printable(e.name))
		}
	case disk != e.saved:
		fmt.Fprintf(e.out, "%s was changed on disk.\n", printable(e.name))
		e.put(disk, disk)
	default:
		e.differs = false
	}
}

// put is called under the mutex.
func (e *editor) put(text, saved string) {
	if text != e.text {
		e.version++
	}
	e.text, e.saved, e.differs = text, saved, false
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

func (e *editor) shown() shown {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := shown{title: printable(e.name), status: "saved", path: fmt.Sprintf("/?v=%d", e.version)}
	switch {
	case e.differs:
		s.status = "changed on disk too"
	case e.text != e.saved:
		s.status = "not saved"
	}
	return s
}

// excerpt is the first lines, for the person.
func (e *editor) excerpt() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	n := 0
	for line := range strings.Lines(e.text) {
		if n++; n > 20 {
			b.WriteString("  | …\n")
			break
		}
		fmt.Fprintf(&b, "  | %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
	return b.String()
}

// edit runs one action under the mutex, tells the person, and answers.
func (e *editor) edit(said string, do func(input ahp.Value) (any, error)) func(context.Context, ahp.Value) (ahp.Value, error) {
	return func(_ context.Context, input ahp.Value) (ahp.Value, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		answer, err := do(input)
		if err != nil {
			fmt.Fprintf(e.out, "The agent could not do this: %s\n", printable(err.Error()))
			return nil, err
		}
		fmt.Fprintln(e.out, said)
		return ahp.Marshal(answer)
	}
}

type textAnswer struct {
	Text  string `json:"text"`
	Saved bool   `json:"saved"`
}

func (e *editor) app() *canvas.App {
	answer := func() (any, error) { return textAnswer{e.text, e.text == e.saved}, nil }
	return &canvas.App{Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){
		"get_text": e.edit("The agent read the text.", func(ahp.Value) (any, error) { return answer() }),
		"read": e.edit("The agent read the file again.", func(ahp.Value) (any, error) {
			disk, err := e.disk()
			if err != nil {
				return nil, err
			}
			e.put(disk, disk)
			return answer()
		}),
		"replace_text": e.edit("The agent replaced text.", e.replace),
		"append":       e.edit("The agent added text.", e.add),
		"save":         e.edit("The agent saved the file.", e.save),
	}}
}

func (e *editor) replace(input ahp.Value) (any, error) {
	var q struct {
		Find    string `json:"find"`
		Replace string `json:"replace"`
	}
	if err := ahp.Unmarshal(input, &q); err != nil {
		return nil, err
	}
	if n := strings.Count(e.text, q.Find); n != 1 {
		return nil, canvas.Errorf("text_not_unique", "the text stands in %d places, want one: give more of what is around it", n)
	}
	return e.set(strings.Replace(e.text, q.Find, q.Replace, 1))
}

func (e *editor) add(input ahp.Value) (any, error) {
	var q struct {
		Text string `json:"text"`
	}
	if err := ahp.Unmarshal(input, &q); err != nil {
		return nil, err
	}
	return e.set(e.text + q.Text)
}

func (e *editor) set(text string) (any, error) {
	if len(text) > maxText {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "the text would have %d bytes, at most %d are allowed", len(text), maxText)
	}
	e.put(text, e.saved)
	return struct{}{}, nil
}

func (e *editor) save(ahp.Value) (any, error) {
	disk, err := e.disk()
	if err == nil && disk != e.saved {
		err = canvas.Errorf("changed_on_disk", "the file was changed on disk: use read, and make the change again")
	}
	if err == nil {
		err = os.WriteFile(e.path, []byte(e.text), 0o600) // it exists and keeps its mode
	}
	if err != nil {
		return nil, err
	}
	e.put(e.text, e.text)
	return struct{}{}, nil
}

// lines is a terminal that several goroutines write to.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
