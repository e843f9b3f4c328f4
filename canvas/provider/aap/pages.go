package aap

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	maxPages   = 10_000  // listed
	maxVisited = 200_000 // files and folders that a list looks at
	maxLevels  = 16      // of folders
)

// Page is an HTML file in an agent's canvas folder.
type Page struct {
	// Name is the last segment of the path.
	Name string `json:"name"`
	// Path is relative to the canvas folder.
	Path string `json:"path"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// ModifiedAt is when the file was written last.
	ModifiedAt time.Time `json:"-"`
}

// Pages returns the agent's pages, the newest first: at most 10,000, in at most 16 levels
// of folders. Files and folders whose names begin with a dot, links and the folder
// interactions are left out.
func (s *Store) Pages(agent string) ([]Page, error) {
	a, err := s.Agent(agent)
	if err != nil {
		return nil, err
	}
	root, err := s.openRoot(a, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.failed("listing pages", err)
	}
	defer root.Close()
	return listPages(root.FS()), nil
}

func listPages(fsys fs.FS) (pages []Page) {
	visited := 0
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error { // fn returns no error
		if visited++; visited > maxVisited || len(pages) == maxPages {
			return fs.SkipAll
		}
		switch {
		case name == ".":
			return nil
		case err != nil || !ValidPath(name) || d.IsDir() && strings.Count(name, "/") >= maxLevels:
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !IsPage(name):
			return nil
		}
		if info, err := d.Info(); err == nil {
			pages = append(pages, Page{path.Base(name), name, info.Size(), info.ModTime()})
		}
		return nil
	})
	slices.SortStableFunc(pages, func(a, b Page) int { return b.ModifiedAt.Compare(a.ModifiedAt) })
	return pages
}

// Page returns a page as it stands in its file.
func (s *Store) Page(agent, file string) (html []byte, p Page, err error) {
	a, err := s.Agent(agent)
	if err != nil {
		return nil, p, err
	}
	if err := checkPage(file); err != nil {
		return nil, p, err
	}
	root, err := s.openRoot(a, false)
	if err != nil {
		return nil, p, unknownPage(file)
	}
	defer root.Close()
	html, info, err := readRegular(root, file, s.limits.PageBytes)
	if errors.Is(err, errTooBig) {
		return nil, p, errorf(CodeTooLarge, "file", "Canvas file '%s' has more than %d bytes", file, s.limits.PageBytes)
	}
	if err != nil {
		return nil, p, unknownPage(file)
	}
	return html, Page{path.Base(file), file, info.Size(), info.ModTime()}, nil
}

// PageInfo returns what is known about a page without reading it: its size and time.
func (s *Store) PageInfo(agent, file string) (Page, error) {
	a, err := s.Agent(agent)
	if err != nil {
		return Page{}, err
	}
	if err := checkPage(file); err != nil {
		return Page{}, err
	}
	v := s.version(a, file)
	if !v.ok {
		return Page{}, unknownPage(file)
	}
	return Page{path.Base(file), file, v.size, v.at}, nil
}

// WritePage writes a page, in one step for readers, and makes its folders. It reports
// whether the page is new.
func (s *Store) WritePage(agent, file string, html []byte) (p Page, created bool, err error) {
	a, err := s.Agent(agent)
	if err != nil {
		return p, false, err
	}
	if err := checkPage(file); err != nil {
		return p, false, err
	}
	if len(html) > s.limits.PageBytes {
		return p, false, errorf(CodeTooLarge, "html", "a page can have at most %d bytes", s.limits.PageBytes)
	}
	root, err := s.openRoot(a, true)
	if err != nil {
		return p, false, s.failed("writing a page", err)
	}
	defer root.Close()
	if _, err := root.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		created = true
	}
	dir := path.Dir(file)
	if err = root.MkdirAll(dir, 0o700); err == nil {
		err = replace(root, dir, path.Base(file), html)
	}
	if err != nil {
		return p, false, s.failed("writing a page", err)
	}
	s.watch.kick()
	return Page{path.Base(file), file, int64(len(html)), s.now()}, created, nil
}

// DeletePage deletes a page. The records of its interactions stay.
func (s *Store) DeletePage(agent, file string) error {
	a, err := s.Agent(agent)
	if err != nil {
		return err
	}
	if err := checkPage(file); err != nil {
		return err
	}
	root, err := s.openRoot(a, false)
	if err != nil {
		return unknownPage(file)
	}
	defer root.Close()
	if info, err := root.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return unknownPage(file)
	}
	if err := root.Remove(file); err != nil {
		return s.failed("deleting a page", err)
	}
	s.watch.kick()
	return nil
}
