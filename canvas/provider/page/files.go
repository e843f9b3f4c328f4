package page

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// The limits of an instance; see the package comment.
const (
	MaxFiles     = 200       // files of an instance
	MaxFile      = 2 << 20   // bytes of a file
	MaxBytes     = 8 << 20   // bytes of all files of an instance
	MaxCall      = 240 << 10 // bytes of one call's input
	MaxPath      = 200       // bytes of a file's path
	MaxRevisions = 50        // revisions that are kept
	MaxHistory   = 64 << 20  // bytes of the different contents of these revisions
	MaxState     = 64 << 10  // bytes of the shared state, as JSON
)

// The codes of the canvas's errors.
const (
	CodeInvalid       = "page_invalid"        // an input that breaks a rule
	CodeTooLarge      = "page_too_large"      // beyond a limit
	CodeNoFile        = "page_file_not_found" // no such file
	CodeNoRevision    = "page_revision_not_found"
	CodeEditNotFound  = "edit_not_found"  // the old text does not occur in the file
	CodeEditAmbiguous = "edit_ambiguous"  // it occurs more than once
	CodeNotText       = "page_not_text"   // the file is not text
	CodeNoActions     = "page_no_actions" // the page that is open takes no actions
)

// index is the file that the canvas shows.
const index = "index.html"

// file is a file of a revision; its content is a blob.
type file struct {
	Hash string `json:"h"`
	Size int    `json:"s"`
}

// tree is the files of a revision by path. It is immutable.
type tree map[string]file

// bytes returns the size of all files.
func (t tree) bytes() (n int) {
	for _, f := range t {
		n += f.Size
	}
	return n
}

// paths returns the sorted paths.
func (t tree) paths() []string { return slices.Sorted(maps.Keys(t)) }

// check returns an error if the files exceed a limit, or cannot be shown.
func (t tree) check() error {
	if len(t) > MaxFiles {
		return canvas.Errorf(CodeTooLarge, "the canvas would have %d files; at most %d are allowed", len(t), MaxFiles)
	}
	for path, f := range t {
		if f.Size > MaxFile {
			return canvas.Errorf(CodeTooLarge, "%q would have %d bytes; a file can have at most %d", path, f.Size, MaxFile)
		}
		for dir := range prefixes(path) {
			if _, ok := t[dir]; ok {
				return canvas.Errorf(CodeInvalid, "%q cannot be a file and a folder, which %q makes it", dir, path)
			}
		}
	}
	if n := t.bytes(); n > MaxBytes {
		return canvas.Errorf(CodeTooLarge, "the canvas would have %d bytes; at most %d are allowed", n, MaxBytes)
	}
	if _, ok := t[index]; !ok {
		return canvas.Errorf(CodeInvalid, "the canvas has no %s, which is the file that it shows; write one", index)
	}
	return nil
}

// prefixes yields the folders of a path.
func prefixes(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for at, c := range path {
			if c == '/' && !yield(path[:at]) {
				return
			}
		}
	}
}

// cleanPath returns the path of a file without a leading slash, or what is wrong with it.
// The rules are those of content paths, because Views read the file by one.
func cleanPath(path string) (string, error) {
	path = strings.TrimPrefix(path, "/")
	p := canvas.ContentPath{Segments: strings.Split(path, "/")}
	parsed, err := canvas.ParseContentPath(p.String())
	switch {
	case path == "":
		err = errors.New("it is empty")
	case len(path) > MaxPath:
		err = fmt.Errorf("it has %d bytes; at most %d are allowed", len(path), MaxPath)
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		err = errors.New("it contains a control character")
	case err == nil && (parsed.Dir || parsed.Name() != path):
		err = errors.New("it must name a file")
	case err == nil && (p.Segments[0] == ".ahp" || p.Segments[0] == ownFolder):
		err = fmt.Errorf("files below %q are the host's own", p.Segments[0])
	}
	if err != nil {
		return "", canvas.Errorf(CodeInvalid, "the path %.220q is not allowed: %v", path, err)
	}
	return path, nil
}

// given is a file of an input: a text, or an object.
type given struct {
	data   []byte
	append bool // to what the file has
}

// decodeFile decodes a text, {"text": …} or {"base64": …}.
func decodeFile(path string, v ahp.Value) (g given, err error) {
	if v.Kind() == '"' {
		var text string
		err = ahp.Unmarshal(v, &text)
		return given{data: []byte(text)}, err
	}
	var in struct {
		Text   *string `json:"text,omitzero"`
		Base64 *string `json:"base64,omitzero"`
		Append bool    `json:"append,omitzero"`
	}
	if err = ahp.Unmarshal(v, &in); err == nil && (in.Text == nil) == (in.Base64 == nil) {
		err = errors.New("want text or base64")
	}
	if err == nil && in.Base64 != nil {
		g.data, err = base64.StdEncoding.DecodeString(*in.Base64)
	} else if err == nil {
		g.data = []byte(*in.Text)
	}
	if err != nil {
		return g, canvas.Errorf(CodeInvalid, "the file %q is neither a text nor {\"base64\": …}: %v", path, err)
	}
	g.append = in.Append
	return g, nil
}

// decodeFiles decodes the member files of an input.
func decodeFiles(files map[string]ahp.Value) (map[string]given, error) {
	all := make(map[string]given, len(files))
	for name, v := range files {
		path, err := cleanPath(name)
		if err != nil {
			return nil, err
		}
		if _, twice := all[path]; twice {
			return nil, canvas.Errorf(CodeInvalid, "the file %q is given twice", path)
		}
		if all[path], err = decodeFile(path, v); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// opening is the input of an open.
type opening struct {
	Title *string              `json:"title,omitzero"`
	HTML  *string              `json:"html,omitzero"`
	Files map[string]ahp.Value `json:"files,omitzero"`
}

func decodeOpen(input ahp.Value) (in opening, err error) {
	if err := checkCall(input); err != nil {
		return in, err
	}
	if input == nil {
		return in, nil
	}
	if err := ahp.Unmarshal(input, &in); err != nil {
		return in, canvas.Errorf(CodeInvalid, "a page needs the input {title?, html} or {title?, files}: %v", err)
	}
	if in.HTML != nil && in.Files != nil {
		return in, canvas.Errorf(CodeInvalid, "a page has html or files, not both; html is the file %s", index)
	}
	if in.Title != nil && utf8.RuneCountInString(*in.Title) > 200 {
		return in, canvas.Errorf(CodeInvalid, "the title has more than 200 characters")
	}
	return in, nil
}

// checkCall returns an error if a call's input is too large.
func checkCall(input ahp.Value) error {
	if len(input) > MaxCall {
		return canvas.Errorf(CodeTooLarge, "one call carries at most %d KiB, this one has %d; write a larger app with several calls of write_files, with more: true for all but the last", MaxCall>>10, (len(input)+1023)>>10)
	}
	return nil
}
