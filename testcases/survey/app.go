package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// app is a web app that the survey starts. In arguments, {port} is where it listens, {data}
// a new folder and {dir} its folder.
type app struct {
	Name string `json:"-"`
	// Fetch has the commands that make the app, once for each cache.
	Fetch [][]string `json:"fetch,omitempty"`
	// Run starts the app.
	Run []string `json:"run"`
	// Path is where it begins; "/" by default.
	Path string `json:"path,omitempty"`
	// Plain says that people reach the app itself, and not a front that counts its WebSockets:
	// the app names the port of its server.
	Plain bool `json:"plain,omitempty"`
	// Env is added to its environment.
	Env []string `json:"env,omitempty"`
	// Steps are played in each visit.
	Steps []step `json:"steps,omitempty"`
	// Controls is how many controls are pressed; 12 by default. -1: none.
	Controls int `json:"controls,omitempty"`
	// Known are differences that are known, with their reasons.
	Known []known `json:"known,omitempty"`

	dir string // where it is, fetched
}

// known is a difference whose text contains Has.
type known struct{ Has, Why string }

const defaultControls = 12

// apps reads the apps of a folder, those of only if it is not empty.
func apps(folder string, only []string) ([]*app, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*", "survey.json"))
	if err != nil {
		return nil, err
	}
	var all []*app
	for _, name := range names {
		a := &app{Name: filepath.Base(filepath.Dir(name)), Path: "/", Controls: defaultControls, dir: filepath.Dir(name)}
		if len(only) > 0 && !slices.Contains(only, a.Name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		read := json.NewDecoder(bytes.NewReader(text))
		read.DisallowUnknownFields()
		if err := read.Decode(a); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(a.Run) == 0 {
			return nil, fmt.Errorf("%s: no run", name)
		}
		all = append(all, a)
	}
	return all, nil
}

// fetchTime limits the commands that make an app.
const fetchTime = 10 * time.Minute

// fetch copies the app's files into the cache, and makes the app there if it has not been
// made.
func (a *app) fetch(ctx context.Context, cache string) error {
	from := a.dir
	var err error
	if a.dir, err = filepath.Abs(filepath.Join(cache, a.Name)); err != nil {
		return err
	}
	if err := update(a.dir, from); err != nil {
		return err
	}
	done := filepath.Join(a.dir, ".fetched")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	for _, args := range a.Fetch {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = a.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w: %s", args, err, out[max(0, len(out)-400):])
		}
	}
	return os.WriteFile(done, nil, 0o600)
}

// update copies the files of a folder, over those of earlier versions.
func update(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o600)
	})
}

// extensions returns the folders of extensions in a folder, or the folder itself.
func extensions(folder string) ([]string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if dir := filepath.Join(folder, e.Name()); e.IsDir() && mainModule(dir) != "" {
			found = append(found, dir)
		}
	}
	if mainModule(folder) != "" {
		found = []string{folder}
	}
	if len(found) == 0 {
		return nil, errors.New("no extension is in " + folder)
	}
	return found, nil
}

// mainModule returns the module that an extension begins with, "" if it is none.
func mainModule(dir string) string {
	name := "extension.mjs"
	if text, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil {
		var said struct{ Main string }
		if json.Unmarshal(text, &said) == nil && said.Main != "" {
			name = said.Main
		}
	}
	if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
		return ""
	}
	return filepath.Join(dir, name)
}
