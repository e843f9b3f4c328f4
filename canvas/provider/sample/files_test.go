package sample_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// ExampleFiles gives a canvas without a Definition the shared style sheet.
func ExampleFiles() {
	own := fstest.MapFS{"index.html": {Data: []byte(`<!doctype html><link rel="stylesheet" href="base.css">`)}}
	app := &canvas.App{Files: sample.Files(own)}

	_, path, _ := canvas.ParseContentURI(canvas.ContentURL("one", "/base.css"))
	content, err := app.Read(context.Background(), canvas.ReadRequest{Path: path})
	fmt.Println(content.ContentType, len(content.Data) > 0, err)
	// Output: text/css true <nil>
}

func TestFilesLayers(t *testing.T) {
	own := fstest.MapFS{"index.html": {Data: []byte("own page")}, "ui.js": {Data: []byte("own ui")}, "deep/a.txt": {Data: []byte("a")}}
	for _, tt := range []struct {
		name  string
		files fs.FS
		path  string
		want  string // "" is absent, "*" is the shared file
	}{
		{"own", sample.Files(own), "index.html", "own page"},
		{"own below a directory", sample.Files(own), "deep/a.txt", "a"},
		{"own replaces shared", sample.Files(own), "ui.js", "own ui"},
		{"shared style", sample.Files(own), "base.css", "*"},
		{"shared link", sample.Files(own), "link.js", "*"},
		{"in no layer", sample.Files(own), "none.js", ""},
		{"the directory of the shared files", sample.Files(own), "page/link.js", ""},
		{"outside", sample.Files(own), "../files.go", ""},
		{"without own", sample.Files(nil), "ui.js", "*"},
		{"without own, absent", sample.Files(nil), "index.html", ""},
		{"a second time", sample.Files(sample.Files(own)), "ui.js", "own ui"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := fs.ReadFile(tt.files, tt.path)
			switch {
			case tt.want == "":
				if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
					t.Errorf("%q, %v", b, err)
				}
			case err != nil:
				t.Error(err)
			case tt.want == "*" && len(b) == 0, tt.want != "*" && string(b) != tt.want:
				t.Errorf("%q, want %q", b, tt.want)
			}
		})
	}
}

// TestProviderInterface: a provider brings its extension and its declarations.
func TestProviderInterface(t *testing.T) {
	var p interface {
		canvas.Provider
		Extension() canvas.Extension
		Declarations() []canvas.Declaration
	} = sample.New(sample.Definition[int]{Extension: canvas.Extension{ID: "x", Name: "X"}, Declaration: declaration})
	if x := p.Extension(); x.ID != "x" || x.Name != "X" {
		t.Errorf("extension %+v", x)
	}
	if set := p.Declarations(); len(set) != 1 || !ahp.Equal(ahp.MustMarshal(set[0]), ahp.MustMarshal(declaration)) {
		t.Errorf("declarations %+v", set)
	}
}
