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

// Severity is the weight of a finding.
type Severity string

const (
	// SeverityError marks what does not work.
	SeverityError Severity = "error"
	// SeverityWarning marks what might not work as intended.
	SeverityWarning Severity = "warning"
)

// Finding is a problem of a folder.
type Finding struct {
	// File is a path in the folder, with slashes; "." is the folder.
	File string `json:"file"`
	// Line counts from 1; 0 is the whole file.
	Line int `json:"line"`
	// Severity tells errors from warnings.
	Severity Severity `json:"severity"`
	// Text describes the problem.
	Text string `json:"text"`
	// Fix describes what to do.
	Fix string `json:"fix"`
}

const (
	maxFindings = 1000
	maxLintRead = 1 << 20  // bytes of a file that is checked
	maxServed   = 16 << 20 // bytes of a file that a host serves (canvas/PROTOCOL.md section 8)
)

// linter collects findings, and what it can judge only after all files.
type linter struct {
	fsys     fs.FS
	findings []Finding

	manifest manifest
	declared map[string]int  // line in canvas.json, by action
	handled  map[string]bool // actions that a script handles
	handlers []handler
	unclear  bool            // a script handles actions whose names Lint cannot determine
	imports  bool            // a page maps the names of its imports
	named    map[string]bool // files that something refers to
	packages []Finding       // imports of packages: errors unless a page maps them
}

// handler is a call of onAction.
type handler struct {
	file   string
	line   int
	action string
}

// Lint returns the problems of a folder as a canvas: in canvas.json, in the references of
// pages, style sheets and scripts, and differences between declared and handled actions.
// It runs nothing, so it does not see what a script computes. It skips node_modules and
// folders that begin with a dot. The findings are sorted by file and line, at most
// 1,000. It fails if the folder cannot be read.
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

// visit checks one file.
func (l *linter) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		if name == "." {
			return err
		}
		l.add(name, 0, SeverityWarning, "Check its permissions.", "it cannot be read: %v", err)
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
		l.add(name, 0, SeverityWarning, "Copy the file into the folder, or remove it.", "it is not a file inside the folder, so it is not served")
		return nil
	}
	if info.Size() > maxServed {
		l.add(name, 0, SeverityWarning, "Split it, or make it smaller.", "it has %d bytes; a file can have at most %d", info.Size(), maxServed)
		return nil
	}
	l.lintFile(name, info.Size())
	return nil
}

func (l *linter) lintFile(name string, size int64) {
	lint := map[string]func(string, string){
		".html": l.lintPage, ".htm": l.lintPage, ".svg": l.lintPage, ".css": l.lintStyle, ".js": l.lintScript, ".mjs": l.lintScript,
	}[strings.ToLower(path.Ext(name))]
	if lint == nil {
		return
	}
	if size > maxLintRead {
		l.unclear = true
		return
	}
	text, err := readFile(l.fsys, name, maxLintRead)
	if err != nil {
		l.add(name, 0, SeverityError, "Check its permissions.", "it cannot be read: %v", err)
		return
	}
	lint(name, string(text))
}

// compareActions reports declared actions without a handler, and handlers of undeclared
// actions.
func (l *linter) compareActions() {
	for action, line := range l.declared {
		switch {
		case l.handled[action]:
		case l.unclear:
			l.add(ManifestName, line, SeverityWarning, "Make sure that a script handles it.", "no script seems to handle action %q, but the names of some handlers cannot be determined", action)
		default:
			l.add(ManifestName, line, SeverityError, fmt.Sprintf("Call onAction(%q, …) of /.ahp/canvas.js in a script, or remove the action.", action), "action %q is declared, but no script handles it", action)
		}
	}
	for _, h := range l.handlers {
		if _, ok := l.declared[h.action]; !ok {
			l.add(h.file, h.line, SeverityWarning, fmt.Sprintf("Declare it under \"actions\" in %s.", ManifestName), "action %q is handled but not declared, so no agent can invoke it", h.action)
		}
	}
}

// comparePackages reports imports of packages that no page maps. A script that nothing
// refers to might be for another program, so there they are warnings.
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

// lineAt returns the line of a byte in a text, from 1.
func lineAt[T string | []byte](text T, offset int) int {
	return 1 + bytes.Count([]byte(text[:min(max(offset, 0), len(text))]), []byte("\n"))
}
