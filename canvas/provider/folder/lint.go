package folder

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Severity says what a finding means.
type Severity string

const (
	// SeverityError is what does not work.
	SeverityError Severity = "error"
	// SeverityWarning is what may not do what was meant.
	SeverityWarning Severity = "warning"
)

// Finding is something that is wrong with a folder.
type Finding struct {
	File     string   `json:"file"` // in the folder, with slashes; "." is the folder
	Line     int      `json:"line"` // from 1; 0 is the file as a whole
	Severity Severity `json:"severity"`
	Text     string   `json:"text"` // what is wrong
	Fix      string   `json:"fix"`  // what to do
}

const (
	maxFindings = 1000
	maxLintRead = 1 << 20  // bytes of a file that is looked into
	maxServed   = 16 << 20 // bytes of a file that a host gives out (canvas/PROTOCOL.md section 8)
)

// linter gathers what is found, and what of it can only be judged at the end.
type linter struct {
	fsys     fs.FS
	findings []Finding

	manifest manifest
	declared map[string]int  // line in canvas.json, by action
	handled  map[string]bool // actions that a script handles
	handlers []handler
	unclear  bool            // a script handles actions whose names cannot be read
	imports  bool            // a page maps the names of its imports
	named    map[string]bool // files that something refers to
	packages []Finding       // imports of packages: wrong where nothing maps them
}

// handler is where a script handles an action.
type handler struct {
	file   string
	line   int
	action string
}

// Lint says what is wrong with a folder as a canvas: in canvas.json, in what its
// pages, style sheets and scripts refer to, and between the actions that are
// declared and those that are handled. It reads files and runs nothing, so it
// sees what stands in them and not what a script puts together; folders that
// begin with a dot and node_modules are left out. The findings are sorted by file
// and line, 1,000 at most. The error is that the folder cannot be read.
func Lint(dir string) ([]Finding, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	defer root.Close()
	l := &linter{fsys: root.FS(), declared: map[string]int{}, handled: map[string]bool{}, named: map[string]bool{}}
	l.lintManifest()
	if err := fs.WalkDir(l.fsys, ".", l.visit); err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	l.compareActions()
	l.comparePackages()
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Text, b.Text))
	})
	l.findings = slices.Compact(l.findings)
	return l.findings[:min(len(l.findings), maxFindings)], nil
}

func (l *linter) add(file string, line int, severity Severity, fix, format string, args ...any) {
	if len(l.findings) < 4*maxFindings {
		l.findings = append(l.findings, Finding{file, line, severity, fmt.Sprintf(format, args...), fix})
	}
}

// visit looks into one file.
func (l *linter) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		if name == "." {
			return err
		}
		l.add(name, 0, SeverityWarning, "Look at its permissions.", "it cannot be read: %v", err)
		return nil
	}
	switch base := path.Base(name); {
	case entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "node_modules"):
		return fs.SkipDir
	case entry.IsDir() || strings.HasPrefix(base, ".") || name == ManifestName || name == schemaName:
		return nil
	}
	info, err := fs.Stat(l.fsys, name)
	if err != nil || !info.Mode().IsRegular() {
		l.add(name, 0, SeverityWarning, "Put a copy of the file into the folder, or take it out.", "it is no file inside the folder, and is not served")
		return nil
	}
	if info.Size() > maxServed {
		l.add(name, 0, SeverityWarning, "Split it, or make it smaller.", "it has %d bytes; a page gets at most %d of one file", info.Size(), maxServed)
		return nil
	}
	l.lookInto(name, info.Size())
	return nil
}

func (l *linter) lookInto(name string, size int64) {
	look := map[string]func(string, string){
		".html": l.lintPage, ".htm": l.lintPage, ".svg": l.lintPage, ".css": l.lintStyle, ".js": l.lintScript, ".mjs": l.lintScript,
	}[strings.ToLower(path.Ext(name))]
	if look == nil {
		return
	}
	if size > maxLintRead {
		l.unclear = true
		return
	}
	text, err := readBounded(l.fsys, name, maxLintRead)
	if err != nil {
		l.add(name, 0, SeverityError, "Look at its permissions.", "it cannot be read: %v", err)
		return
	}
	look(name, string(text))
}

// compareActions holds the actions that canvas.json declares against those that
// scripts handle.
func (l *linter) compareActions() {
	for action, line := range l.declared {
		switch {
		case l.handled[action]:
		case l.unclear:
			l.add(ManifestName, line, SeverityWarning, "Make sure that a script handles it.", "no script seems to handle action %q; there are handlers whose names cannot be read here", action)
		default:
			l.add(ManifestName, line, SeverityError, fmt.Sprintf("Call onAction(%q, …) of /.ahp/canvas.js in a script, or take the action out.", action), "action %q is declared, and no script handles it", action)
		}
	}
	for _, h := range l.handlers {
		if _, ok := l.declared[h.action]; !ok {
			l.add(h.file, h.line, SeverityWarning, fmt.Sprintf("Declare it under \"actions\" in %s.", ManifestName), "action %q is handled but not declared: no agent can invoke it", h.action)
		}
	}
}

// comparePackages adds the imports of packages where no page maps them. In a
// script that nothing loads they are for other programs, as in many packages.
func (l *linter) comparePackages() {
	for _, f := range l.packages {
		if ext := strings.ToLower(path.Ext(f.File)); !l.named[f.File] && (ext == ".js" || ext == ".mjs") {
			f.Severity = SeverityWarning
		}
		if !l.imports {
			l.findings = append(l.findings, f)
		}
	}
}

// lineAt is the line of a byte in a text, from 1.
func lineAt[T string | []byte](text T, offset int) int {
	return 1 + bytes.Count([]byte(text[:min(max(offset, 0), len(text))]), []byte("\n"))
}
