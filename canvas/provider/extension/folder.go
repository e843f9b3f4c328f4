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

// mainModule is the module that runs, unless it is missing and package.json names
// another.
const mainModule = "extension.mjs"

// manifest holds the fields of package.json that the host uses.
type manifest struct {
	Name        string `json:"name,omitzero"`
	DisplayName string `json:"displayName,omitzero"`
	Main        string `json:"main,omitzero"`
}

// Folder is an extension on disk.
type Folder struct {
	Dir  string // absolute path
	ID   string // from the package's or the folder's name; only letters, digits, '.', '_', '-'
	Name string // display name
	main string // path of the module, relative to Dir
}

// errNoExtension reports a folder that contains no extension.
var errNoExtension = errors.New("found no extension.mjs and no package.json with a main module")

// Find returns the extension in dir, or else the extensions in its direct
// subfolders. Finding none is an error.
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
		return nil, fmt.Errorf("no extension in %q or its direct subfolders: %w", dir, errNoExtension)
	}
	return found, nil
}

// read returns the extension in one folder, or errNoExtension.
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
		return Folder{}, fmt.Errorf("%s: main %q is outside of the extension's folder", filepath.Join(abs, "package.json"), m.Main)
	}
	return f, nil
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// idOf turns a name into an extension id, which is also a valid file name:
// "@me/board" becomes "me-board". It returns "" if no valid character remains.
func idOf(name string) string {
	id := strings.Trim(notInID.ReplaceAllString(name, "-"), "-.")
	return id[:min(len(id), 128)]
}
