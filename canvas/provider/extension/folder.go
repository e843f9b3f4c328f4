package extension

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// mainModule is what an extension's folder holds, unless its package.json names
// another.
const mainModule = "extension.mjs"

// manifest is what is read of a package.json.
type manifest struct {
	Name        string `json:"name,omitzero"`
	DisplayName string `json:"displayName,omitzero"`
	Main        string `json:"main,omitzero"`
}

// Folder is an extension on disk.
type Folder struct {
	Dir  string // absolute
	ID   string // from the package's name, or the folder's: letters, digits, '.', '_', '-'
	Name string // for people
	main string // the module, below Dir
}

// errNoExtension is what a folder without extension.mjs and package.json is.
var errNoExtension = errors.New("there is no extension.mjs and no package.json with a main module")

// Find returns the extension in a folder, or those in its sub-folders.
func Find(dir string) ([]Folder, error) {
	f, err := read(dir)
	if err == nil {
		return []Folder{f}, nil
	}
	if !errors.Is(err, errNoExtension) {
		return nil, err
	}
	entries, readErr := os.ReadDir(dir)
	if readErr != nil {
		return nil, readErr
	}
	var found []Folder
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" {
			continue
		}
		f, err := read(filepath.Join(dir, e.Name()))
		if err == nil {
			found = append(found, f)
		} else if !errors.Is(err, errNoExtension) {
			return nil, err
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s is no extension: %w, here or one folder down", dir, errNoExtension)
	}
	return found, nil
}

// read looks whether one folder is an extension.
func read(dir string) (Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, err
	}
	if _, err := os.Stat(abs); err != nil {
		return Folder{}, err
	}
	var m manifest
	data, err := os.ReadFile(filepath.Join(abs, "package.json"))
	if err == nil {
		if err := ahp.Unmarshal(data, &m); err != nil {
			return Folder{}, fmt.Errorf("%s: %w", filepath.Join(abs, "package.json"), err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Folder{}, err
	}
	f := Folder{Dir: abs, ID: idOf(m.Name), Name: m.DisplayName, main: mainModule}
	if f.ID == "" {
		f.ID = idOf(filepath.Base(abs))
	}
	if f.Name == "" {
		f.Name = f.ID
	}
	if _, err := os.Stat(filepath.Join(abs, mainModule)); err == nil {
		return f, nil
	}
	if m.Main == "" {
		return Folder{}, errNoExtension
	}
	if f.main = filepath.FromSlash(m.Main); !filepath.IsLocal(f.main) {
		return Folder{}, fmt.Errorf("%s: main leads out of the folder", filepath.Join(abs, "package.json"))
	}
	return f, nil
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// idOf makes a name an extension id, which is a file's name too: "@me/board" is
// "me-board". "" has none.
func idOf(name string) string {
	id := strings.Trim(notInID.ReplaceAllString(name, "-"), "-.")
	return id[:min(len(id), 128)]
}
