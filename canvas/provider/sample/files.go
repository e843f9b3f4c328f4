package sample

import (
	"embed"
	"errors"
	"io/fs"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

//go:embed page
var page embed.FS

// Declaration is the file declaration.json of what a package embeds.
func Declaration(f embed.FS) canvas.Declaration {
	b, err := f.ReadFile("declaration.json")
	if err != nil {
		panic(err) // it is embedded
	}
	var d canvas.Declaration
	if err := ahp.Unmarshal(b, &d); err != nil {
		panic(err)
	}
	return d
}

// Page is the folder "page" of what a package embeds.
func Page(f embed.FS) fs.FS {
	below, err := fs.Sub(f, "page")
	if err != nil {
		panic(err) // it is embedded
	}
	return below
}

// layered is file systems on top of each other: the first that has a file serves
// it.
type layered []fs.FS

// Open opens name in the first layer that has it.
func (l layered) Open(name string) (fs.File, error) {
	for _, files := range l {
		f, err := files.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
