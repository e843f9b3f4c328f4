package testcases_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

func reducerCases(t *testing.T) []testcases.ReducerCase {
	t.Helper()
	all, err := testcases.Reducers()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d reducer fixtures: %v", len(all), err)
	}
	return all
}

// TestReducers runs every fixture through this project's reducers, from the
// initial state and from a snapshot after any number of its actions.
func TestReducers(t *testing.T) {
	for _, c := range reducerCases(t) {
		for k := range len(c.Actions) + 1 {
			snapshot, err := wire.Reduce(c.Reducer, c.Initial, c.Actions[:k])
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			got, err := wire.Reduce(c.Reducer, snapshot, c.Actions[k:])
			if err != nil || !ahp.Equal(got, c.Expected) {
				t.Errorf("%s, snapshot after %d: %v\nwant %s\nhave %s", c.Name, k, err, c.Expected, got)
			}
		}
	}
}

// TestReducerFiles checks the format of the files.
func TestReducerFiles(t *testing.T) {
	seen := map[string]string{}
	for _, c := range reducerCases(t) {
		if canvas.ChannelKindNamed(c.Reducer) == nil || !strings.HasPrefix(c.Name, c.Reducer+"-") {
			t.Errorf("%s: reducer %q", c.Name, c.Reducer)
		}
		if other := seen[c.Reducer+c.Description]; other != "" || c.Description == "" {
			t.Errorf("%s: description %q, also of %q", c.Name, c.Description, other)
		}
		seen[c.Reducer+c.Description] = c.Name
		// A runner that treats null as absent cannot check that a null is kept,
		// so the name of such a case must say so.
		stripped := testcases.StripNulls(c.Expected)
		if keeps := !ahp.Equal(stripped, c.Expected); keeps != strings.HasSuffix(c.Name, "-null-kept") {
			t.Errorf("%s: has a null in its expected state: %v", c.Name, keeps)
		}
		data, err := os.ReadFile(filepath.Join("reducers", c.Name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(data, &m); err != nil || len(m) != 5 {
			t.Errorf("%s: %d members, want exactly five: %v", c.Name, len(m), err)
		}
		if !bytes.HasSuffix(data, []byte("}\n")) {
			t.Errorf("%s: no newline at its end", c.Name)
		}
	}
}

// TestReducerCoverage checks that every action of every kind has a fixture, and
// that each kind has one with an unknown action.
func TestReducerCoverage(t *testing.T) {
	tags := map[string][]string{}
	for _, c := range reducerCases(t) {
		for _, raw := range c.Actions {
			tag, err := ahp.ActionTag(raw)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if wire.Tables()[c.Reducer].Row(tag) == nil {
				tag = "unknown"
			}
			tags[c.Reducer] = append(tags[c.Reducer], tag)
		}
	}
	for kind, table := range wire.Tables() {
		for _, row := range table.Rows() {
			if !row.Alias && !slices.Contains(tags[kind], row.Type) {
				t.Errorf("action %s: no reducer fixture", row.Type)
			}
		}
		if !slices.Contains(tags[kind], "unknown") {
			t.Errorf("kind %s: no reducer fixture with an unknown action", kind)
		}
	}
}
