package schema_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// installed installs the tools of proof/package-lock.json, once.
var installed = sync.OnceValue(func() error {
	if now, err := os.ReadFile("proof/package-lock.json"); err == nil {
		if then, err := os.ReadFile("proof/node_modules/.of-lock"); err == nil && bytes.Equal(now, then) {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "npm", "ci", "--prefix", "proof", "--no-audit", "--no-fund", "--ignore-scripts").CombinedOutput()
	if err != nil {
		return &toolError{"npm ci", err, out}
	}
	lock, err := os.ReadFile("proof/package-lock.json")
	if err != nil {
		return err
	}
	return os.WriteFile("proof/node_modules/.of-lock", lock, 0o644)
})

type toolError struct {
	name string
	err  error
	out  []byte
}

func (e *toolError) Error() string { return e.name + ": " + e.err.Error() + "\n" + string(e.out) }

// tools skips a test if there is no Node or no registry; in CI it fails the
// test. With -short, as in the race detector's run, nothing outside Go is run.
func tools(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("proven in the run without -short")
	}
	if err := installed(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("NOT PROVEN: the npm tools of schema/proof cannot be had here: %v", err)
	}
}

// run runs a tool in proof/ and returns its output.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "proof"
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.Bytes(), complaints.Bytes())
	}
	return out.Bytes()
}

// write writes a value to a file for a tool.
func write(t *testing.T, v any) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(name, ahp.MustMarshal(v), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// report fails the test for each line of "wrong" and logs the other figures.
// Known errors of a tool are given by a part of their line, and must occur.
func report(t *testing.T, out []byte, known ...string) {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wrong, ok := r["wrong"].([]any)
	if !ok {
		t.Fatalf("no verdict: %s", out)
	}
	met := map[string]int{}
	for _, w := range wrong {
		i := slices.IndexFunc(known, func(k string) bool { return strings.Contains(w.(string), k) })
		if i < 0 {
			t.Error(w)
			continue
		}
		met[known[i]]++
	}
	for _, k := range known {
		if met[k] == 0 {
			t.Errorf("nothing fails with %q any more: take it from the known faults", k)
		}
	}
	delete(r, "wrong")
	delete(r, "mutants")
	t.Log(r, "known faults:", met)
}
