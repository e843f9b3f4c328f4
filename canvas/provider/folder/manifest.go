package folder

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// ManifestName is the name of the file that describes a folder's canvas.
const ManifestName = "canvas.json"

// Schema is the JSON Schema of canvas.json.
//
//go:embed canvas.schema.json
var Schema []byte

// maxManifest is the limit of canvas.json in bytes; 64 actions with schemas fit.
const maxManifest = 1 << 20

// manifest is canvas.json. The schema describes its members.
type manifest struct {
	Schema      string    `json:"$schema,omitzero"`
	ID          string    `json:"id"`
	DisplayName string    `json:"displayName"`
	Description string    `json:"description"`
	Entry       string    `json:"entry,omitzero"`
	Title       string    `json:"title,omitzero"`
	InputSchema ahp.Value `json:"inputSchema,omitzero"`
	Actions     []action  `json:"actions,omitzero"`
	Unknown     ahp.Value `json:",embed"`
}

type action struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitzero"`
	InputSchema ahp.Value `json:"inputSchema,omitzero"`
	Unknown     ahp.Value `json:",embed"`
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// readManifest reads canvas.json, or makes a manifest for a folder with an index.html.
func readManifest(fsys fs.FS, dir string) (manifest, error) {
	raw, err := readFile(fsys, ManifestName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return bareManifest(fsys, dir)
	}
	if err != nil {
		return manifest{}, fmt.Errorf("%s: %w", ManifestName, err)
	}
	var m manifest
	if err := ahp.Unmarshal(raw, &m); err != nil {
		return manifest{}, fmt.Errorf("%s: %w", ManifestName, err)
	}
	if err := m.check(); err != nil {
		return manifest{}, fmt.Errorf("%s: %w", ManifestName, err)
	}
	return m, nil
}

func bareManifest(fsys fs.FS, dir string) (manifest, error) {
	if info, err := fs.Stat(fsys, "index.html"); err != nil || info.IsDir() {
		return manifest{}, fmt.Errorf("the folder has neither %s nor index.html; run \"ahp-canvas new %s\" to create them", ManifestName, dir)
	}
	name := filepath.Base(dir)
	m := manifest{ID: slug(name), DisplayName: name, Description: fmt.Sprintf("The page in the folder %q.", name)}
	return m, m.check()
}

// slug makes an id from a folder's name.
func slug(name string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, name)
	if id = strings.Trim(id, "._-"); id == "" {
		return "folder"
	}
	return id[:min(len(id), 128)]
}

// problem is an invalid member of canvas.json.
type problem struct {
	pointer string // JSON Pointer
	text    string
}

func (m *manifest) check() error {
	if all := m.problems(); len(all) > 0 {
		return fmt.Errorf("%s: %s", all[0].pointer, all[0].text)
	}
	return nil
}

// problems returns what is wrong with the manifest, except for its actions, which the
// host checks.
func (m *manifest) problems() (all []problem) {
	add := func(pointer, text string) { all = append(all, problem{pointer, text}) }
	for _, name := range unknown(m.Unknown) {
		add("/"+name, "is an unknown member")
	}
	if !idPattern.MatchString(m.ID) {
		add("/id", "want 1 to 128 letters, digits, '.', '_' and '-', beginning with a letter or digit")
	}
	if m.DisplayName == "" {
		add("/displayName", "must not be empty")
	}
	if !isLine(m.DisplayName) {
		add("/displayName", wantLine)
	}
	if !isLine(m.Title) {
		add("/title", wantLine)
	}
	for i, a := range m.Actions {
		for _, name := range unknown(a.Unknown) {
			add(fmt.Sprintf("/actions/%d/%s", i, name), "is an unknown member")
		}
	}
	if _, err := m.entry(); err != nil {
		add("/entry", err.Error())
	}
	return all
}

const wantLine = "want at most 512 characters and no control characters"

// isLine reports whether a text can be an open canvas's title.
func isLine(s string) bool {
	return utf8.RuneCountInString(s) <= 512 && !strings.ContainsFunc(s, unicode.IsControl)
}

// unknown returns the sorted names of the members that no field has.
func unknown(members ahp.Value) []string {
	var all map[string]ahp.Value
	if len(members) == 0 || ahp.Unmarshal(members, &all) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

// entry returns the path of the first page. It is inside the folder and not hidden.
func (m *manifest) entry() (string, error) {
	if m.Entry == "" {
		return "/", nil
	}
	entry := "/" + strings.TrimPrefix(strings.TrimPrefix(m.Entry, "./"), "/")
	_, path, err := canvas.ParseContentURI(canvas.ContentURL("x", entry))
	switch {
	case err != nil:
		return "", err
	case hidden(path):
		return "", errors.New("a name in the path begins with a dot, so it is not served")
	}
	return entry, nil
}

func (m *manifest) declaration() canvas.Declaration {
	d := canvas.Declaration{CanvasID: m.ID, DisplayName: m.DisplayName, Description: m.Description, InputSchema: m.InputSchema}
	for _, a := range m.Actions {
		d.Actions = append(d.Actions, canvas.Action{Name: a.Name, Description: a.Description, InputSchema: a.InputSchema})
	}
	return d
}
