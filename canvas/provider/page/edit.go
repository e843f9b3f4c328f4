package page

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// edit replaces a text that occurs once.
type edit struct {
	Old string `json:"old"`
	New string `json:"new"`
}

func (i *instance) editFile(ctx context.Context, in struct {
	Path  string `json:"path"`
	Edits []edit `json:"edits"`
}) (any, error) {
	path, err := cleanPath(in.Path)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	files := i.rec.head().files
	data, err := i.content(files, path)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, canvas.Errorf(CodeNotText, "%q is not text, so it cannot be edited; write it with write_files", path)
	}
	text, err := applyEdits(path, string(data), in.Edits)
	if err != nil {
		return nil, err
	}
	f := file{hashOf([]byte(text)), len(text)}
	next := maps.Clone(files)
	next[path] = f
	rev, err := i.revise(ctx, byAgent, clip("Edited "+path, 120), next, map[string][]byte{f.Hash: []byte(text)})
	if err != nil {
		return nil, err
	}
	return changedTo(rev), nil
}

// applyEdits applies edits one after the other: all, or none.
func applyEdits(path, text string, edits []edit) (string, error) {
	for n, e := range edits {
		if e.Old == "" {
			return "", canvas.Errorf(CodeInvalid, "edit %d: old is empty; to write a whole file use write_files", n+1)
		}
		switch strings.Count(text, e.Old) {
		case 1:
			text = strings.Replace(text, e.Old, e.New, 1)
		case 0:
			return "", notFound(path, text, n+1, e.Old)
		default:
			return "", ambiguous(path, text, n+1, e.Old)
		}
		if len(text) > MaxFile {
			return "", canvas.Errorf(CodeTooLarge, "%q would have more than %d bytes, the limit of a file", path, MaxFile)
		}
	}
	return text, nil
}

// editDetails locates a failed edit for programs.
type editDetails struct {
	Path  string `json:"path"`
	Edit  int    `json:"edit"`            // its number, from 1
	Lines []int  `json:"lines,omitempty"` // where old occurs, or a line like its first one
}

func editError(code string, d editDetails, message string) error {
	err := canvas.Errorf(code, "edit %d of %q: %s; nothing was changed", d.Edit, d.Path, message)
	err.Details = ahp.MustMarshal(d)
	return err
}

// maxLines is how many lines an error lists.
const maxLines = 20

// ambiguous lists the lines in which a text begins.
func ambiguous(path, text string, n int, old string) error {
	d, count := editDetails{Path: path, Edit: n}, strings.Count(text, old)
	line, rest := 1, text
	for len(d.Lines) < maxLines {
		before, after, ok := strings.Cut(rest, old)
		if !ok {
			break
		}
		line += strings.Count(before, "\n")
		d.Lines = append(d.Lines, line)
		line += strings.Count(old, "\n")
		rest = after
	}
	return editError(CodeEditAmbiguous, d, fmt.Sprintf("old occurs %d times, in lines %s; add text around it so that it occurs once", count, numbers(d.Lines)))
}

// notFound names the lines that resemble the first line of a text: usually white space
// differs, or the rest has changed.
func notFound(path, text string, n int, old string) error {
	d := editDetails{Path: path, Edit: n}
	first := ""
	for l := range strings.Lines(old) {
		if first = words(l); first != "" {
			break
		}
	}
	at := 0
	for l := range strings.Lines(text) {
		at++
		if l = words(l); first != "" && len(d.Lines) < maxLines && (l == first || len(first) > 8 && strings.Contains(l, first)) {
			d.Lines = append(d.Lines, at)
		}
	}
	if d.Lines == nil {
		return editError(CodeEditNotFound, d, fmt.Sprintf("old does not occur in the file, which has %d lines; read_file shows it", bytes.Count([]byte(text), []byte("\n"))+1))
	}
	return editError(CodeEditNotFound, d, fmt.Sprintf("old does not occur in the file; its first line resembles line %s, so white space or the lines after it differ; read_file shows them", numbers(d.Lines)))
}

// words returns a line with its white space normalized.
func words(line string) string { return strings.Join(strings.Fields(line), " ") }

// numbers lists numbers as in "4, 17 and 90".
func numbers(all []int) string {
	var b strings.Builder
	for n, v := range all {
		switch {
		case n == 0:
		case n == len(all)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}
