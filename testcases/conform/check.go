package conform

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

// maxFixture limits the size of a fixture file in bytes.
const maxFixture = 16 << 20

// fixture is a file of one of the formats of testcases: it has a reducer if it is
// a reducer fixture, and a type if it is a round-trip.
type fixture struct {
	Description string    `json:"description,omitzero"`
	Reducer     string    `json:"reducer,omitzero"`
	Type        string    `json:"type,omitzero"`
	Initial     ahp.Value `json:"initial,omitzero"`
	Expected    ahp.Value `json:"expected,omitzero"`
	Input       ahp.Value `json:"input,omitzero"`

	Actions           []ahp.Value `json:"actions,omitzero"`
	AcceptableOutputs []ahp.Value `json:"acceptableOutputs,omitzero"`
	PreservedOutput   ahp.Value   `json:"preservedOutput,omitzero"`
}

// CheckOptions configures [Check].
type CheckOptions struct {
	// Nulls distinguishes null from absent in every reducer fixture. By default
	// only fixtures whose name ends in -null-kept do: upstream treats null and
	// absent alike.
	Nulls bool
}

// Check runs the fixtures in a folder and its subfolders (*.json) through this
// project's reducers and types. A file that cannot be parsed is a failed case. A
// fixture of a channel kind or type that this project does not have is skipped.
// Check returns an error only if it cannot read the folder.
func Check(dir fs.FS, opts CheckOptions) (*Report, error) {
	report := &Report{}
	began := time.Now()
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && ignoredDir(d.Name()) {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".json") {
			return err
		}
		result := Result{Case: strings.TrimSuffix(name, ".json"), Area: "unreadable", Status: Passed}
		start := time.Now()
		if err := result.check(dir, name, opts); err != nil {
			result.Status, result.Problem = Failed, err.Error()
		}
		result.Took = time.Since(start)
		report.Results = append(report.Results, result)
		return nil
	})
	report.Took = time.Since(began)
	return report, err
}

func (res *Result) check(dir fs.FS, name string, opts CheckOptions) error {
	info, err := fs.Stat(dir, name)
	if err != nil {
		return err
	}
	if info.Size() > maxFixture {
		return fmt.Errorf("the file has %d bytes; a fixture has at most %d", info.Size(), maxFixture)
	}
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return err
	}
	var f fixture
	if err := ahp.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("cannot parse the file as a fixture: %w", err)
	}
	res.Title = f.Description
	switch {
	case f.Reducer != "":
		return res.reduce(f, opts)
	case f.Type != "" && (f.Input != nil || f.AcceptableOutputs != nil):
		return res.roundTrip(f)
	}
	res.Area, res.Status, res.Reason = "other files", Skipped, "the file is not a fixture"
	return nil
}

// ignoredDir reports whether a folder holds installed packages or is hidden.
func ignoredDir(name string) bool {
	return name == "node_modules" || strings.HasPrefix(name, ".") && name != "."
}

func (res *Result) reduce(f fixture, opts CheckOptions) error {
	res.Place, res.Area = "reducer "+f.Reducer, "reducer "+f.Reducer
	if canvas.ChannelKindNamed(f.Reducer) == nil {
		res.Status, res.Reason = Skipped, fmt.Sprintf("this project has no channel kind %q", f.Reducer)
		return nil
	}
	if f.Initial == nil || f.Expected == nil {
		return fmt.Errorf(`the fixture lacks "initial" or "expected"`)
	}
	got, err := wire.Reduce(f.Reducer, f.Initial, f.Actions)
	if err != nil {
		return err
	}
	want := f.Expected
	if !opts.Nulls && !strings.HasSuffix(res.Case, "-null-kept") {
		want, got = testcases.StripNulls(want), testcases.StripNulls(got)
	}
	return res.equal(got, want)
}

func (res *Result) roundTrip(f fixture) error {
	res.Place, res.Area = "type "+f.Type, "round-trips"
	if f.Input == nil || len(f.AcceptableOutputs) == 0 {
		return fmt.Errorf(`the fixture lacks "input" or "acceptableOutputs"`)
	}
	if !slices.Contains(wire.Names(), f.Type) {
		res.Status, res.Reason = Skipped, fmt.Sprintf("this project has no type %q", f.Type)
		return nil
	}
	got, err := wire.RoundTrip(f.Type, f.Input)
	if err != nil {
		return err
	}
	wants := f.AcceptableOutputs
	if f.PreservedOutput != nil && wire.Keeps(f.Type) {
		wants = []ahp.Value{f.PreservedOutput}
	}
	return res.equal(got, wants...)
}

// equal returns an error unless got equals one of wants. Numbers are compared by
// their digits.
func (res *Result) equal(got ahp.Value, wants ...ahp.Value) error {
	for _, want := range wants {
		if ahp.Equal(want, got) {
			return nil
		}
	}
	res.Want, res.Have = string(wants[0]), string(got)
	if err := (testcases.Bindings{}).Match(wants[0], got); err != nil {
		return err
	}
	return fmt.Errorf("want %s, got %s", wants[0], got)
}
