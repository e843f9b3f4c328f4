package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
)

// lintManifest checks canvas.json with the code that reads it, and with the host's check
// of declarations.
func (l *linter) lintManifest() {
	raw, err := readFile(l.fsys, ManifestName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Stat(l.fsys, "index.html"); err != nil {
			l.add(".", 0, SeverityError, "Write one of them; \"ahp-canvas new\" creates a folder to start from.", "the folder has neither %s nor index.html", ManifestName)
		}
		return
	}
	if err != nil {
		l.add(ManifestName, 0, SeverityError, "Make it smaller; 64 actions with their schemas fit.", "it cannot be read: %v", err)
		return
	}
	lines := locate(raw)
	at := func(pointer, fix, text string) {
		l.add(ManifestName, lines.of(pointer), SeverityError, fix, "%s: %s", pointer, text)
	}
	if err := ahp.Unmarshal(raw, &l.manifest); err != nil {
		l.unreadable(raw, lines, err)
		return
	}
	m := &l.manifest
	for _, p := range m.problems() {
		at(p.pointer, "See canvas.schema.json for what is allowed.", p.text)
	}
	l.judgeActions(lines)
	if entry, err := m.entry(); err == nil {
		l.lintEntry(lines, entry)
	}
}

// unreadable reports an error of the strict decoder with its line.
func (l *linter) unreadable(raw []byte, lines positions, err error) {
	const fix = "Correct it; editors complete and check it with canvas.schema.json."
	text, line := err.Error(), 0
	if at := byteOffset.FindStringSubmatch(text); at != nil {
		n, _ := strconv.Atoi(at[1])
		line = lineAt(raw, n)
		text = strings.TrimPrefix(text, at[0])
		text = "it is not JSON: " + strings.TrimPrefix(text, ": ")
	} else if pointer, _, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(pointer, "/") {
		line = lines.of(pointer)
	}
	l.add(ManifestName, line, SeverityError, fix, "%s", text)
}

var byteOffset = regexp.MustCompile(`^invalid JSON at byte (\d+)`)

// judgeActions checks what canvas.json declares as a host does, one action at a time, so
// that each error has its line.
func (l *linter) judgeActions(lines positions) {
	d := l.manifest.declaration()
	actions := d.Actions
	refused := 0
	report := func(pointer string, d canvas.Declaration) {
		if err := judge(d); err != nil {
			refused++
			l.add(ManifestName, lines.of(pointer), SeverityError, "Correct it; otherwise hosts reject the whole folder.", "%s: %s", pointer, err.Message)
		}
	}
	bare := canvas.Declaration{CanvasID: "lint", DisplayName: "Lint"}
	withInput := bare
	withInput.InputSchema = d.InputSchema
	report("/inputSchema", withInput)
	for i, a := range actions {
		pointer := fmt.Sprintf("/actions/%d", i)
		l.declared[a.Name] = lines.of(pointer + "/name")
		one := bare
		one.Actions = []canvas.Action{a}
		report(pointer, one)
	}
	if refused == 0 { // checks across actions: their number, and duplicate names
		all := bare
		all.Actions = actions
		report("/actions", all)
	}
}

// judge returns what a host would refuse about a declaration; nil if it accepts it.
func judge(d canvas.Declaration) *canvas.Error {
	limits := check.Limits{Limits: canvas.DefaultLimits()}
	declared, err := limits.Declarations([]canvas.Declaration{d})
	if err == nil {
		err = declared[0].Unchecked() // accepted by a host, and most likely a mistake
	}
	e, ok := errors.AsType[*canvas.Error](err)
	if !ok {
		return nil
	}
	e.Message = strings.ReplaceAll(strings.TrimPrefix(e.Message, `canvas "lint": `), `canvas "lint"`, "it")
	return e
}

func (l *linter) lintEntry(lines positions, entry string) {
	_, p, err := canvas.ParseContentURI(canvas.ContentURL("x", entry))
	if err != nil {
		return // reported already
	}
	name := p.Name()
	if p.Dir {
		name = strings.TrimPrefix(name+"/index.html", "/")
		name = strings.TrimPrefix(name, "./")
	}
	if info, err := fs.Stat(l.fsys, name); err != nil || !info.Mode().IsRegular() {
		l.add(ManifestName, lines.of("/entry"), SeverityError, "Write that file, or name another one as \"entry\".", "the first page, %s, does not exist", name)
	}
}

// positions holds the lines of members and elements, by JSON Pointer.
type positions map[string]int

// of returns the line of a pointer, or of its nearest known parent.
func (p positions) of(pointer string) int {
	for {
		if line, ok := p[pointer]; ok {
			return line
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return 1
		}
		pointer = pointer[:cut]
	}
}

// Line returns the line, from 1, of what a JSON Pointer names in a JSON text, or of the
// nearest parent that the text has.
func Line(raw []byte, pointer string) int { return locate(raw).of(pointer) }

// locate finds the lines of all members, as far as the text is valid. It uses
// encoding/json, which reports the offsets of tokens; ahp.Unmarshal decodes the values.
func locate(raw []byte) positions {
	p := positions{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	p.walk(dec, raw, "", 0)
	return p
}

// walk records the lines of a value and of its parts. It ends at the first error.
func (p positions) walk(dec *json.Decoder, raw []byte, pointer string, depth int) bool {
	tok, err := dec.Token()
	if err != nil || depth > 64 {
		return false
	}
	if _, named := p[pointer]; !named {
		p[pointer] = lineAt(raw, int(dec.InputOffset())-1)
	}
	delim, _ := tok.(json.Delim)
	for n := 0; delim != 0 && dec.More(); n++ {
		child := pointer + "/" + strconv.Itoa(n)
		if delim == '{' {
			name, err := dec.Token()
			if err != nil {
				return false
			}
			child = pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(name))
			p[child] = lineAt(raw, int(dec.InputOffset())-1)
		}
		if !p.walk(dec, raw, child, depth+1) {
			return false
		}
	}
	if delim == 0 {
		return true
	}
	_, err = dec.Token()
	return err == nil
}
