package sample

import (
	"embed"
	"errors"
	"io/fs"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

//go:embed page
var shared embed.FS

// Files returns the files of own with the shared page files below them: base.css,
// ui.js and link.js. A file of own replaces the shared one of the same name. Own may
// be nil. The result lists no directories; it is for [canvas.ReadFile] and
// [canvas.App], which open files by name.
func Files(own fs.FS) fs.FS {
	if own == nil {
		return MustPage(shared)
	}
	return layers{own, MustPage(shared)}
}

// MustDeclaration returns the declaration in the file declaration.json of fsys. It
// panics if there is none, so fsys should be an embed.FS.
func MustDeclaration(fsys fs.FS) canvas.Declaration {
	b, err := fs.ReadFile(fsys, "declaration.json")
	if err != nil {
		panic(err)
	}
	var d canvas.Declaration
	if err := ahp.Unmarshal(b, &d); err != nil {
		panic(err)
	}
	return d
}

// MustPage returns the directory "page" of fsys. It panics if fsys cannot have one.
func MustPage(fsys fs.FS) fs.FS {
	page, err := fs.Sub(fsys, "page")
	if err != nil {
		panic(err)
	}
	return page
}

// layers is a list of file systems. A file comes from the first that has it.
type layers []fs.FS

// Open opens a file of the first layer that has it.
func (l layers) Open(name string) (fs.File, error) {
	for _, files := range l {
		f, err := files.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
