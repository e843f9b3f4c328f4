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

// ManifestName is the file that says which canvas a folder is.
const ManifestName = "canvas.json"

// Schema is the JSON Schema of canvas.json.
//
//go:embed canvas.schema.json
var Schema []byte

// maxManifest bounds canvas.json, in bytes: 64 actions with their schemas.
const maxManifest = 1 << 20

// manifest is canvas.json. The schema says what its members mean.
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

// readManifest reads canvas.json, or makes one of a bare index.html.
func readManifest(fsys fs.FS, dir string) (manifest, error) {
	raw, err := readBounded(fsys, ManifestName, maxManifest)
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
		return manifest{}, fmt.Errorf("there is neither a %s nor an index.html in it", ManifestName)
	}
	name := filepath.Base(dir)
	m := manifest{ID: slug(name), DisplayName: name, Description: fmt.Sprintf("The page in the folder %q.", name)}
	return m, m.check()
}

// slug makes an id of a folder's name.
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

// problem is what is wrong with a member of canvas.json.
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

// problems is all that reading alone finds; what an action may be, the host says.
func (m *manifest) problems() (all []problem) {
	add := func(pointer, text string) { all = append(all, problem{pointer, text}) }
	for _, name := range unknown(m.Unknown) {
		add("/"+name, "is not a member that is known")
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
			add(fmt.Sprintf("/actions/%d/%s", i, name), "is not a member that is known")
		}
	}
	if _, err := m.entry(); err != nil {
		add("/entry", err.Error())
	}
	return all
}

const wantLine = "want at most 512 characters, and none that is a control character"

// isLine reports whether a text can be an open canvas's title.
func isLine(s string) bool {
	return utf8.RuneCountInString(s) <= 512 && !strings.ContainsFunc(s, unicode.IsControl)
}

// unknown are the names of members that no field takes, sorted.
func unknown(members ahp.Value) []string {
	var all map[string]ahp.Value
	if len(members) == 0 || ahp.Unmarshal(members, &all) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

// entry is the page that is shown: a path inside the folder, and no dotfile.
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
		return "", errors.New("names that begin with a dot are not served")
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
