package programtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

// TestEachFormatHasAState checks that there is a state folder for TestOldStates of each format
// that stores have had until now.
func TestEachFormatHasAState(t *testing.T) {
	t.Parallel()
	m, dir := newMachine(t), filepath.Join(t.TempDir(), "state")
	m.serve("--state", dir, "--browser", "none")
	var now struct{ Format int }
	if err := json.Unmarshal([]byte(m.do(0, "state", "check", "--state", dir, "--json")), &now); err != nil || now.Format < 1 {
		t.Fatalf("format %d, %v", now.Format, err)
	}
	for n := range now.Format {
		if _, err := os.Stat(fmt.Sprintf("testdata/states/format-%d.json", n+1)); err != nil {
			t.Error(err)
		}
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

// TestDowngrade starts a host on the store of a version with a later format. It is refused
// with the way back, nothing is changed, and a backup from before the upgrade opens. The
// store is format 1 with another number in its manifest.
func TestDowngrade(t *testing.T) {
	t.Parallel()
	m, dir := newMachine(t), filepath.Join(t.TempDir(), "state")
	before := m.serve("--state", dir, "--browser", "none", "--open", "board")
	copied := filepath.Join(t.TempDir(), "before-upgrade.db")
	m.do(0, "state", "backup", copied, "--state", dir)
	before.stop(syscall.SIGTERM)

	store := filepath.Join(dir, "store.db")
	newer, err := os.ReadFile("testdata/newer/store.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{store + "-wal", store + "-shm"} {
		_ = os.Remove(file) // of the older store, if there is one
	}
	if err := os.WriteFile(store, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--browser", "none"}, {"state", "check"}} {
		m.do(1, append(args, "--state", dir)...)
		if !strings.Contains(m.err, "state_newer: ") || !strings.Contains(m.err, "restore a backup that this version made (ahp-canvas state restore)") {
			t.Errorf("%q: %s", args, m.err)
		}
	}
	if now, err := os.ReadFile(store); err != nil || !bytes.Equal(now, newer) {
		t.Errorf("the newer store has changed: %v", err)
	}

	m.do(0, "state", "restore", copied, "--state", dir)
	if kept, err := os.ReadFile(filepath.Join(dir, "replaced-1", "store.db")); err != nil || !bytes.Equal(kept, newer) {
		t.Errorf("the newer store is not kept: %v", err)
	}
	m.serve("--state", dir, "--browser", "none")
	m.do(0, "invoke", "board", "get_board")
}
