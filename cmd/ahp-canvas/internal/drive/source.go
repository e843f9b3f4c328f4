package drive

import (
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// The limits of the canvas "page": reading stops there, and its provider says what is
// wrong.
const (
	indexFile    = "index.html"
	maxShowFile  = 2<<20 + 1
	maxShowFiles = 201
)

// source is a file or a folder on the disk, as the files of a page.
type source struct {
	root   *os.Root
	single bool
	name   string // of the file in root, if single
}

// stamp tells contents of a file apart.
type stamp struct {
	size int64
	at   time.Time
}

// openSource opens a file or a folder. The caller must close it.
func openSource(at string) (*source, error) {
	info, err := os.Stat(at)
	if err != nil {
		return nil, err
	}
	s := &source{single: !info.IsDir()}
	dir := at
	if s.single {
		dir, s.name = filepath.Dir(at), filepath.Base(at)
	}
	if s.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *source) close() { _ = s.root.Close() } // it was only read

// scan returns the files that are shown.
func (s *source) scan() (map[string]stamp, error) {
	all := map[string]stamp{}
	if s.single {
		info, err := s.root.Stat(s.name)
		if err != nil {
			return nil, err
		}
		all[indexFile] = stamp{info.Size(), info.ModTime()}
		if isImage(s.name) {
			all[s.name] = all[indexFile]
		}
		return all, nil
	}
	err := fs.WalkDir(s.root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || len(all) >= maxShowFiles:
			return nil
		}
		info, err := s.root.Stat(path) // follows links inside the folder
		if err != nil || !info.Mode().IsRegular() {
			return nil // out of the folder, or not a file
		}
		all[path] = stamp{info.Size(), info.ModTime()}
		return nil
	})
	return all, err
}

// read returns the contents of files.
func (s *source) read(paths []string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, path := range paths {
		name := path
		if s.single {
			name = s.name
		}
		data, err := s.readFile(name)
		if err != nil {
			return nil, err
		}
		if all[path] = data; !s.single || path != indexFile {
			continue
		}
		page, err := document(s.name, data)
		if err != nil {
			return nil, err
		}
		all[path] = page
	}
	return all, nil
}

func (s *source) readFile(name string) ([]byte, error) {
	info, err := s.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() >= maxShowFile {
		return nil, term.Usagef("%q has %d bytes; a page's file can have at most %d", name, info.Size(), maxShowFile-1)
	}
	return s.root.ReadFile(name)
}

// document returns the page of a single file: an HTML file itself, an image or a text in a
// document.
func document(name string, data []byte) ([]byte, error) {
	title := html.EscapeString(name)
	switch {
	case slices.Contains([]string{".html", ".htm"}, suffix(name)):
		return data, nil
	case isImage(name):
		return fmt.Appendf(nil, `<title>%s</title><style>html { height: 100%% } body { max-width: none; min-height: 100%%; display: grid; place-content: center; box-sizing: border-box } img { max-width: 100%% }</style><img alt="%s" src="%s">`,
			title, title, html.EscapeString(url.PathEscape(name))), nil
	case utf8.Valid(data):
		return fmt.Appendf(nil, `<title>%s</title><style>body { max-width: 60rem } pre { white-space: pre-wrap; overflow-wrap: anywhere; font: .875rem/1.5 var(--font-mono, ui-monospace, monospace) }</style><pre>%s</pre>`,
			title, html.EscapeString(string(data))), nil
	}
	return nil, term.Usagef("%q is neither a page nor an image nor a text", name)
}

func suffix(name string) string { return strings.ToLower(filepath.Ext(name)) }

func isImage(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg"}, suffix(name))
}
