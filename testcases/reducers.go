package testcases

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

//go:embed reducers
var reducerFiles embed.FS

// ReducerCase is a reducer fixture in the upstream format (README.md): a state,
// actions, and the state after them.
type ReducerCase struct {
	// Name is the file name without extension.
	Name string `json:"-"`
	// Description is a sentence about what the case tests.
	Description string `json:"description"`
	// Reducer names the channel kind: root, session, canvas, or a kind that
	// this project does not have.
	Reducer string `json:"reducer"`
	// Initial is the state before the actions.
	Initial ahp.Value `json:"initial"`
	// Actions are applied in order.
	Actions []ahp.Value `json:"actions"`
	// Expected is the state after the actions.
	Expected ahp.Value `json:"expected"`
}

// Reducers returns this project's reducer fixtures, sorted by name.
func Reducers() ([]ReducerCase, error) {
	sub, err := fs.Sub(reducerFiles, "reducers")
	if err != nil {
		return nil, err
	}
	return ReadReducers(sub)
}

// ReadReducers reads the reducer fixtures in a folder, sorted by name.
func ReadReducers(dir fs.FS) ([]ReducerCase, error) {
	return readCases(dir, func(c *ReducerCase, name string) error { c.Name = name; return nil })
}

// readCases reads the cases in a folder, sorted by name. It calls done for each
// with the file's name without extension.
func readCases[T any](dir fs.FS, done func(c *T, name string) error) ([]T, error) {
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return nil, err
	}
	cases := make([]T, len(names))
	for i, name := range names {
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		if err = ahp.Unmarshal(data, &cases[i]); err == nil {
			err = done(&cases[i], strings.TrimSuffix(path.Base(name), ".json"))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return cases, nil
}

// StripNulls returns a value without members that are null, at every depth. The
// upstream fixtures treat null and absent alike.
func StripNulls(v ahp.Value) ahp.Value {
	switch v.Kind() {
	case '{':
		m := members(v)
		for name, sub := range m {
			if sub.Kind() == 'n' {
				delete(m, name)
			} else {
				m[name] = StripNulls(sub)
			}
		}
		return ahp.MustMarshal(m)
	case '[':
		list := elements(v)
		for i := range list {
			list[i] = StripNulls(list[i])
		}
		return ahp.MustMarshal(list)
	}
	return v
}
