package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

const stateFile = "page/state.js"

// pageReducers names the function of state.js that reduces each kind that the
// page mirrors, and the actions of that kind which the page ignores, although
// they change the state: it shows nothing of what they set.
var pageReducers = map[string]struct {
	function string
	ignored  []string
}{
	"session": {"reduceSession", []string{
		"session/serverToolsChanged", "session/activeClientSet", "session/activeClientRemoved", "session/activeClientChanged",
		"session/configChanged", "session/metaChanged", "session/mcpServerStateChanged", "session/changesetsChanged", "session/customizationsChanged",
		"session/customizationToggled", "session/customizationUpdated", "session/customizationRemoved",
		"session/chatAdded", "session/chatRemoved", "session/chatUpdated", "session/defaultChatChanged",
	}},
	"canvas": {"reduceCanvas", []string{"canvas/message", "canvas/closeRequested"}},
}

// pageActions returns the action types that state.js names.
func pageActions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(stateFile)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, m := range regexp.MustCompile(`"([a-z]+/[A-Za-z]+)"`).FindAllStringSubmatch(string(text), -1) {
		types = append(types, m[1])
	}
	return types
}

// TestPageKnowsTheKinds compares the actions that the page reduces with the table
// of channel kinds. A new action of a mirrored kind must be reduced or listed as
// ignored.
func TestPageKnowsTheKinds(t *testing.T) {
	reduced, known := pageActions(t), map[string]bool{}
	for name, page := range pageReducers {
		kind := canvas.ChannelKindNamed(name)
		if kind == nil {
			t.Errorf("%s of %s reduces kind %q, which is not in canvas.ChannelKinds", page.function, stateFile, name)
			continue
		}
		for _, row := range kind.Actions.Rows() {
			known[row.Type] = true
			if slices.Contains(reduced, row.Type) == slices.Contains(page.ignored, row.Type) {
				t.Errorf("%s must either be reduced by %s or be listed here as ignored, not both", row.Type, page.function)
			}
		}
		for _, tag := range page.ignored {
			if kind.Actions.Row(tag) == nil {
				t.Errorf("%s is listed here as ignored, but kind %q has no such action", tag, name)
			}
		}
	}
	for _, tag := range reduced {
		if !known[tag] {
			t.Errorf("%s reduces %s, which no mirrored kind has", stateFile, tag)
		}
	}
}

// pageCase is a reducer fixture reduced to the actions that the page knows.
type pageCase struct {
	Name     string      `json:"name"`
	Function string      `json:"function"`
	Initial  ahp.Value   `json:"initial"`
	Actions  []ahp.Value `json:"actions"`
	Want     ahp.Value   `json:"want"`
}

// pageCases returns the reducer fixtures of the kinds that the page mirrors,
// without the actions that it ignores.
func pageCases(t *testing.T) []pageCase {
	t.Helper()
	var cases []pageCase
	fixtures, err := testcases.Reducers()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fixtures {
		page, mirrored := pageReducers[f.Reducer]
		if !mirrored {
			continue
		}
		actions := slices.DeleteFunc(slices.Clone(f.Actions), func(a ahp.Value) bool {
			tag, _ := ahp.ActionTag(a)
			return slices.Contains(page.ignored, tag)
		})
		state, err := wire.Reduce(f.Reducer, f.Initial, actions)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		cases = append(cases, pageCase{f.Name, page.function, f.Initial, actions, state})
	}
	return cases
}

// runPageCases prints a line for each case whose state differs.
const runPageCases = `
const { readFileSync } = await import("node:fs");
const { isDeepStrictEqual } = await import("node:util");
const page = await import("data:text/javascript," + encodeURIComponent(readFileSync(process.argv[1], "utf8")));
for (const c of JSON.parse(readFileSync(0, "utf8"))) {
  const state = c.actions.reduce(page[c.function], c.initial);
  if (!isDeepStrictEqual(state, c.want)) console.log(c.name + ": got " + JSON.stringify(state) + ", want " + JSON.stringify(c.want));
}
`

// TestPageReduces: the page's reducers end every fixture in the state that the Go
// reducers return. Numbers are compared as JavaScript reads them.
func TestPageReduces(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node is not installed")
		}
		t.Skip("node is not installed: the page's reducers were not run")
	}
	cases := pageCases(t)
	if len(cases) == 0 {
		t.Fatal("no fixture is of a kind that the page mirrors")
	}
	file, err := filepath.Abs(stateFile)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "--eval", runPageCases, file)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(ahp.MustMarshal(cases))), os.Stderr
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("%s%v", out, err)
	}
}
