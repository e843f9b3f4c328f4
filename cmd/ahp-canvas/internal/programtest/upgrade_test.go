package programtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oldState is what a state folder of an earlier version must show. The folder lies beside
// the file: it is what a host of that version left when it was stopped. Each release with
// another format adds one; none is ever changed.
type oldState struct {
	// Open are the canvases, as "instance: title".
	Open []string `json:"open"`
	// Answers are commands with a text in their output.
	Answers []struct {
		Args []string `json:"args"`
		Has  string   `json:"has"`
	} `json:"answers"`
}

// TestOldStates opens the state folder of each earlier version, and then a backup that is
// made of it while the host runs, on another machine.
func TestOldStates(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/states/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no state folders: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var want oldState
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			m, dir := newMachine(t), privateCopy(t, strings.TrimSuffix(file, ".json"))
			m.serve("--state", dir, "--browser", "none", "--open", "board")
			want.check(m)
			copied := filepath.Join(t.TempDir(), "backup.db")
			m.do(0, "state", "backup", copied, "--state", dir)

			other := newMachine(t)
			other.do(0, "state", "restore", copied)
			other.serve("--browser", "none", "--open", "board")
			want.check(other)
		})
	}
}

func (want oldState) check(m *machine) {
	m.t.Helper()
	var open []string
	for line := range strings.Lines(m.do(0, "ls", "--json")) {
		var row struct{ Type, InstanceID, Title, Availability string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			m.t.Fatal(err)
		}
		if row.Type == "open" && row.Availability == "ready" {
			open = append(open, row.InstanceID+": "+row.Title)
		}
	}
	if slices.Sort(open); !slices.Equal(open, slices.Sorted(slices.Values(want.Open))) {
		m.t.Errorf("open: %q, want %q", open, want.Open)
	}
	for _, a := range want.Answers {
		if out := m.do(0, a.Args...); !strings.Contains(out, a.Has) {
			m.t.Errorf("%q has no %q:\n%s", a.Args, a.Has, out)
		}
	}
}

// privateCopy copies a folder with modes that a checkout does not keep.
func privateCopy(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(name, 0o700)
		}
		return os.Chmod(name, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}
