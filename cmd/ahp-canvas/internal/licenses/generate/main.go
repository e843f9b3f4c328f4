// Generate writes the licenses of the Go modules in ahp-canvas into a file. It reads them
// from the module cache.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func write() error {
	if len(os.Args) != 2 {
		return errors.New("want the name of the file to write")
	}
	all, err := modules()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := (module{Path: "Go standard library", Dir: strings.TrimSpace(string(root))}).print(&out); err != nil {
		return err
	}
	for _, m := range slices.SortedFunc(maps.Values(all), func(a, b module) int { return cmp.Compare(a.Path, b.Path) }) {
		if err := m.print(&out); err != nil {
			return err
		}
	}
	return os.WriteFile(os.Args[1], out.Bytes(), 0o644)
}

// module is what "go list" says about a module.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// modules returns the modules of the program on the systems for which it is released.
func modules() (map[string]module, error) {
	all := map[string]module{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			if err := dec.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module != nil && !p.Module.Main {
				all[p.Module.Path] = *p.Module
			}
		}
	}
	return all, nil
}

var licenseFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice)`)

// print writes the license files of a module; it fails if there are none.
func (m module) print(w io.Writer) error {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	found := false
	for _, f := range files {
		if f.IsDir() || !licenseFile.MatchString(f.Name()) || strings.Contains(f.Name(), "LOGO") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, f.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(w, "%s, %s\n\n%s\n\n%s\n\n", strings.TrimSpace(m.Path+" "+m.Version), f.Name(), strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")), strings.Repeat("-", 80))
	}
	if !found {
		return fmt.Errorf("module %s has no license file", m.Path)
	}
	return nil
}
