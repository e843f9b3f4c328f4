package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// write makes a folder of files, by name.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "My report")
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestProvider(t *testing.T) {
	f, err := Open(write(t, map[string]string{"index.html": "<p>hello"}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	canvastest.TestProvider(t, canvastest.Config{Provider: f, Declaration: f.Declaration(), Path: "/"})
}
