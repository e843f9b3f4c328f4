package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// names returns the names in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestNew: the written folder is a canvas without findings, whatever its name.
func TestNew(t *testing.T) {
	for _, name := range []string{"notes", "My notes", `a "b" <c>`, "..x", "ünder"} {
		dir := filepath.Join(t.TempDir(), "deeper", name)
		if err := New(dir); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(StarterFiles)), names(t, dir)); diff != "" {
			t.Error(diff)
		}
		f := openFolder(t, dir)
		if f.Extension().Name != name || len(f.Declarations()[0].Actions) != 1 {
			t.Errorf("%q declares %+v", name, f.Declarations())
		}
		h := canvastest.New(t, engine.Options{})
		h.Register(canvas.Extension{ID: f.ID()}, f, f.Declarations()...)
		h.Open(f.ID(), "one", nil)
		if found, err := Lint(dir); err != nil || len(found) != 0 {
			t.Errorf("%q: %+v, %v", name, found, err)
		}
	}
}

// TestNewOverwritesNothing: New writes nothing if one of its files exists.
func TestNewOverwritesNothing(t *testing.T) {
	for _, taken := range StarterFiles {
		dir := write(t, map[string]string{taken: "mine"})
		if err := New(dir); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), `"`+taken+`" exists`) {
			t.Errorf("%s exists: %v", taken, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, taken))
		if err != nil || string(b) != "mine" || len(names(t, dir)) != 1 {
			t.Errorf("%s: %q, %v, beside %v", taken, b, err, names(t, dir))
		}
	}
	dir := write(t, map[string]string{"README.md": "mine"}) // not one of New's files
	if err := New(dir); err != nil {
		t.Error(err)
	}
}
