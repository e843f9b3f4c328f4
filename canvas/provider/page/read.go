package page

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

const (
	ownFolder  = ".page"            // of the paths that are not files of the agent
	exportFile = "export.zip"       // in it
	stateFile  = ".page/state.json" // for read_file: the shared state
	maxText    = 40 << 10           // bytes of a file in one answer of read_file
	listedBack = 10                 // revisions in the answer of list_files
	htmlType   = "text/html; charset=utf-8"
)

// ownFiles are the files below ownFolder.
var ownFiles = func() fs.FS {
	sub, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}()

// Read serves the files of the current revision, with our script in HTML documents.
func (i *instance) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	at := req.Path
	if at.Dir {
		at.Segments = append(slices.Clone(at.Segments), index)
	}
	i.mu.Lock()
	rec := i.rec
	i.mu.Unlock()
	if at.Segments[0] == ownFolder {
		return i.readOwn(rec, at, req)
	}
	head := rec.head()
	f, ok := head.files[at.Name()]
	switch {
	case head.N == 0 && at.Name() == index:
		return canvas.Content{Data: withScript([]byte(emptyPage), 0), ContentType: htmlType}, nil
	case !ok:
		return canvas.Content{}, fs.ErrNotExist
	}
	kind, etag := canvas.ContentType(at), f.Hash[:24]
	html := kind == "text/html"
	if html { // the script names the revision
		etag += "-" + strconv.FormatInt(head.N, 10)
	}
	if req.ETag == etag {
		return canvas.Content{ETag: etag, NotModified: true}, nil
	}
	data, err := i.blobs.get(f.Hash)
	if err != nil {
		return canvas.Content{}, err
	}
	if html {
		data, kind = withScript(data, head.N), htmlType
	}
	return canvas.Content{Data: data, ContentType: kind, ETag: etag}, nil
}

// readOwn serves our own files and the export.
func (i *instance) readOwn(rec record, at canvas.ContentPath, req canvas.ReadRequest) (canvas.Content, error) {
	at.Segments = at.Segments[1:]
	if at.Name() != exportFile {
		return canvas.ReadFile(ownFiles, canvas.ReadRequest{Path: canvas.ContentPath{Segments: at.Segments}, ETag: req.ETag})
	}
	rev := rec.head()
	if text, ok := strings.CutPrefix(req.Path.Query, "revision="); ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return canvas.Content{}, fs.ErrNotExist
		}
		if rev, err = rec.at(n); err != nil {
			return canvas.Content{}, fs.ErrNotExist
		}
	}
	data, err := i.zip(rev)
	return canvas.Content{Data: data, ContentType: "application/zip"}, err
}

// zip returns the files of a revision as an archive.
func (i *instance) zip(rev revision) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, path := range rev.files.paths() {
		data, err := i.content(rev.files, path)
		if err != nil {
			return nil, err
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: rev.Time})
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// exported is the answer of export, and what pages offer to the person.
type exported struct {
	URL      string `json:"url"`
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	Files    int    `json:"files"`
	Bytes    int    `json:"bytes"` // of the files, not compressed
}

func (i *instance) export(_ context.Context, _ struct{}) (any, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	head := i.rec.head()
	if head.N == 0 {
		return nil, canvas.Errorf(CodeNoFile, "the canvas has no files to export")
	}
	e := exported{
		URL: i.h.ContentURL(fmt.Sprintf("/%s/%s?revision=%d", ownFolder, exportFile, head.N)), Name: fileName(i.title()) + ".zip",
		Revision: head.N, Files: len(head.files), Bytes: head.files.bytes(),
	}
	i.offer = &e
	return e, i.post(offering{"export", e})
}

// offering is the message that offers a download.
type offering struct {
	Kind string `json:"x-ahp-page"`
	exported
}

var unsafeName = regexp.MustCompile(`[^\pL\pN._-]+`)

// fileName makes a title a name for a file.
func fileName(title string) string {
	if name := strings.Trim(unsafeName.ReplaceAllString(clip(title, 60), "-"), "-."); name != "" {
		return name
	}
	return CanvasID
}

var (
	doctype = regexp.MustCompile(`(?is)^(\xef\xbb\xbf)?\s*(<!--.*?-->\s*)*<!doctype[^>]*>`)
	whole   = regexp.MustCompile(`(?i)<html\b|<head\b|<body\b`)
)

// withScript inserts our script into a document. A document that is only a fragment also
// gets a doctype and a plain style in the colors of the theme.
func withScript(data []byte, revision int64) []byte {
	script := fmt.Sprintf(`<script type="module" src="/%s/page.js" data-ahp-page="%d"></script>`, ownFolder, revision)
	at := 0
	if found := doctype.FindIndex(data[:min(len(data), 1024)]); found != nil {
		at = found[1]
	} else if !whole.Match(data[:min(len(data), 4096)]) {
		script = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/` + ownFolder + `/plain.css">` + script
	}
	return slices.Concat(data[:at], []byte(script), data[at:])
}

const emptyPage = `<style>html, body { height: 100% } body { margin: 0; display: grid; place-content: center; text-align: center }</style>
<title>Page</title><p>Nothing here yet.<br><small>The agent is about to write this page.</small></p>`

// fileText is the answer of read_file.
type fileText struct {
	Path     string `json:"path"`
	Revision int64  `json:"revision"`
	Size     int    `json:"size"`
	Text     string `json:"text,omitzero"`
	Base64   string `json:"base64,omitzero"` // of a file that is not text
	From     int    `json:"from,omitzero"`   // the first line of text, from 1
	Lines    int    `json:"lines,omitzero"`  // of the file
	Next     int    `json:"next,omitzero"`   // the line at which to read on; 0 if text has the last one
	Cut      bool   `json:"cut,omitzero"`    // a line was too long, and its end is missing
}

func (i *instance) readFile(_ context.Context, in struct {
	Path  string `json:"path"`
	From  int    `json:"from,omitzero"`
	Lines int    `json:"lines,omitzero"`
}) (any, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	head := i.rec.head()
	var data []byte
	path := strings.TrimPrefix(in.Path, "/")
	if path == stateFile {
		data = ahp.MustMarshal(i.shared())
	} else {
		var err error
		if path, err = cleanPath(in.Path); err == nil {
			data, err = i.content(head.files, path)
		}
		if err != nil {
			return nil, err
		}
	}
	t := fileText{Path: path, Revision: head.N, Size: len(data)}
	if utf8.Valid(data) {
		return t.cutTo(string(data), in.From, in.Lines), nil
	}
	if len(data) > maxText {
		return nil, canvas.Errorf(CodeNotText, "%q is not text and has %d bytes; at most %d can be read at once", path, len(data), maxText)
	}
	t.Base64 = base64.StdEncoding.EncodeToString(data)
	return t, nil
}

// cutTo returns a part of the text: whole lines that fit into an answer.
func (t fileText) cutTo(text string, from, count int) fileText {
	lines := slices.Collect(strings.Lines(text))
	t.From, t.Lines = max(from, 1), len(lines)
	first := min(t.From-1, len(lines))
	last := len(lines)
	if count > 0 {
		last = min(last, first+count)
	}
	var b strings.Builder
	size, at := 0, first
	for ; at < last; at++ {
		n := len(ahp.MustMarshal(lines[at]))
		if size+n > maxText && at > first {
			break
		}
		line := lines[at]
		if n > maxText {
			line, t.Cut = strings.ToValidUTF8(line[:maxText/6], ""), true // a byte takes at most six in JSON
		}
		b.WriteString(line)
		size += n
	}
	if t.Text = b.String(); at < len(lines) {
		t.Next = at + 1
	}
	return t
}

func (i *instance) listFiles(_ context.Context, _ struct{}) (any, error) {
	type entry struct {
		Path string `json:"path"`
		Size int    `json:"size"`
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	head := i.rec.head()
	files := []entry{}
	for _, path := range head.files.paths() {
		files = append(files, entry{path, head.files[path].Size})
	}
	return struct {
		Revision  int64         `json:"revision"`
		Files     []entry       `json:"files"`
		Revisions []historyItem `json:"revisions"` // the newest first
		Oldest    int64         `json:"oldest"`    // that revert can go back to
	}{head.N, files, i.history(listedBack), i.rec.oldest()}, nil
}
