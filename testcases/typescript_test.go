package testcases_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

// skipOrFail skips a test that needs Node. In CI it fails the test instead.
func skipOrFail(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// node is a process that runs the TypeScript reducers.
type node struct {
	in  io.Writer
	out *bufio.Reader
}

// startNode compiles typescript/ with strict rules and starts it.
func startNode(t *testing.T) *node {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		skipOrFail(t, "node is not installed: the TypeScript reducers were not run")
	}
	tsc := filepath.Join("node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(filepath.Join("typescript", tsc)); err != nil {
		skipOrFail(t, "the TypeScript reducers were not run: run 'npm ci' in testcases/typescript")
	}
	build := exec.CommandContext(t.Context(), "node", tsc, "-p", "tsconfig.json")
	build.Dir = "typescript"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("tsc: %v\n%s", err, out)
	}
	cmd := exec.Command("node", filepath.Join("dist", "testcases", "typescript", "main.js"))
	cmd.Dir, cmd.Stderr = "typescript", os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("node: %v", err)
		}
	})
	return &node{in, bufio.NewReader(out)}
}

// reduce is wire.Reduce in TypeScript.
func (n *node) reduce(t *testing.T, kind string, initial ahp.Value, actions []ahp.Value) ahp.Value {
	t.Helper()
	line := ahp.MustMarshal(map[string]any{"reducer": kind, "initial": initial, "actions": actions})
	if err := line.Compact(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	text, err := n.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		State json.RawMessage `json:"state"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Error != "" {
		t.Fatalf("%.2000s\nanswered: %v %s", line, err, answer.Error)
	}
	return ahp.Value(answer.State)
}

// TestTypeScript checks that the reducers in typescript/ end every fixture in
// its expected state, and random sequences in the same state as the Go
// reducers. One process runs all of them.
func TestTypeScript(t *testing.T) {
	if testing.Short() {
		t.Skip("runs in another process, which the race detector does not see")
	}
	n := startNode(t)
	t.Run("fixtures", func(t *testing.T) {
		for _, c := range reducerCases(t) {
			if got := n.reduce(t, c.Reducer, c.Initial, c.Actions); !ahp.Equal(got, c.Expected) {
				t.Errorf("%s:\nwant %s\nhave %s", c.Name, c.Expected, got)
			}
		}
	})
	t.Run("random", func(t *testing.T) {
		sequences, applied := uint64(1_000), 0
		if os.Getenv("AHP_LONG") == "1" {
			sequences = 10_000
		}
		for i := range sequences {
			kind, initial, actions := newRandom(297, i).sequence()
			applied += len(actions)
			if _, _, same := n.agrees(t, kind, initial, actions); !same {
				n.explain(t, i, kind, initial, actions)
			}
		}
		t.Logf("%d sequences of %d actions", sequences, applied)
	})
}

func (n *node) agrees(t *testing.T, kind string, initial ahp.Value, actions []ahp.Value) (inGo, inTS ahp.Value, same bool) {
	t.Helper()
	inGo, err := wire.Reduce(kind, initial, actions)
	if err != nil {
		t.Fatalf("%s\n%s: %v", initial, actions, err)
	}
	inTS = n.reduce(t, kind, initial, actions)
	return inGo, inTS, ahp.Equal(inGo, inTS)
}

// explain fails the test with the fewest actions that still end in different
// states.
func (n *node) explain(t *testing.T, i uint64, kind string, initial ahp.Value, actions []ahp.Value) {
	t.Helper()
	for at := 0; at < len(actions); {
		fewer := slices.Delete(slices.Clone(actions), at, at+1)
		if _, _, same := n.agrees(t, kind, initial, fewer); same {
			at++
		} else {
			actions = fewer
		}
	}
	inGo, inTS, _ := n.agrees(t, kind, initial, actions)
	t.Fatalf("sequence %d, %s\nfrom %s\nwith %s\nGo %s\nTS %s", i, kind, initial, actions, inGo, inTS)
}

// TestRandomCoversActions checks that every action occurs in the random
// sequences.
func TestRandomCoversActions(t *testing.T) {
	for _, table := range wire.Tables() {
		for _, row := range table.Rows() {
			if payloads[row.Type] == nil && !row.Alias {
				t.Errorf("action %s: no random payload", row.Type)
			}
		}
	}
}
