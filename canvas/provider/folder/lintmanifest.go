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

// lintManifest finds what is wrong with canvas.json by what reads it, and by the
// host that judges what it declares.
func (l *linter) lintManifest() {
	raw, err := readBounded(l.fsys, ManifestName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Stat(l.fsys, "index.html"); err != nil {
			l.add(".", 0, SeverityError, "Write one of them; ahp-canvas new makes a folder to start from.", "there is neither a %s nor an index.html in it", ManifestName)
		}
		return
	}
	if err != nil {
		l.add(ManifestName, 0, SeverityError, "Make it smaller: 64 actions with their schemas fit.", "it cannot be read: %v", err)
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
		at(p.pointer, "See canvas.schema.json for what may stand there.", p.text)
	}
	l.judgeActions(lines)
	if entry, err := m.entry(); err == nil {
		l.lintEntry(lines, entry)
	}
}

// unreadable places the error of the strict decoder.
func (l *linter) unreadable(raw []byte, lines positions, err error) {
	const fix = "Correct it; canvas.schema.json tells an editor what may stand there."
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

// judgeActions declares what canvas.json does to a host, one action at a time,
// so that each refusal has its place.
func (l *linter) judgeActions(lines positions) {
	d := l.manifest.declaration()
	actions := d.Actions
	refused := 0
	say := func(pointer string, d canvas.Declaration) {
		if err := judge(d); err != nil {
			refused++
			l.add(ManifestName, lines.of(pointer), SeverityError, "Correct it: a host refuses all canvases of this folder otherwise.", "%s: %s", pointer, err.Message)
		}
	}
	bare := canvas.Declaration{CanvasID: "lint", DisplayName: "Lint"}
	withInput := bare
	withInput.InputSchema = d.InputSchema
	say("/inputSchema", withInput)
	for i, a := range actions {
		pointer := fmt.Sprintf("/actions/%d", i)
		l.declared[a.Name] = lines.of(pointer + "/name")
		one := bare
		one.Actions = []canvas.Action{a}
		say(pointer, one)
	}
	if refused == 0 { // what only all together show: their number, and names that are there twice
		all := bare
		all.Actions = actions
		say("/actions", all)
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
		return // said already
	}
	name := p.Name()
	if p.Dir {
		name = strings.TrimPrefix(name+"/index.html", "/")
		name = strings.TrimPrefix(name, "./")
	}
	if info, err := fs.Stat(l.fsys, name); err != nil || !info.Mode().IsRegular() {
		l.add(ManifestName, lines.of("/entry"), SeverityError, "Write that file, or name another as \"entry\".", "the page that is shown, %s, is not there", name)
	}
}

// positions are the lines of members and elements, by JSON Pointer.
type positions map[string]int

// of is the line of a place, or of the nearest around it.
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

// locate finds where everything stands, as far as the text can be read. It needs
// a decoder that says where its tokens are; what they mean, ahp.Unmarshal says.
func locate(raw []byte) positions {
	p := positions{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	p.walk(dec, raw, "", 0)
	return p
}

// walk notes a value and all in it. It ends at the first error.
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
