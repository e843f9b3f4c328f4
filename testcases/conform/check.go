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

// maxFixture bounds one fixture file, in bytes.
const maxFixture = 16 << 20

// fixture is a file of either format of testcases/: one with a reducer is a
// reducer fixture, one with a type a round-trip.
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

// CheckOptions say how fixtures are compared.
type CheckOptions struct {
	// Nulls tells null and absent apart in every reducer fixture. By default only
	// those do whose name ends in -null-kept: upstream takes them for the same.
	Nulls bool
}

// Check runs the fixtures below a folder (*.json) through this project's reducers
// and types. A file that cannot be read as a fixture is a failed case; one for a
// channel kind or type that this project does not have is skipped. The error is
// that the folder cannot be read.
func Check(dir fs.FS, opts CheckOptions) (*Report, error) {
	report := &Report{}
	began := time.Now()
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && notOurs(d.Name()) {
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
		return fmt.Errorf("the file has %d bytes: a fixture has at most %d", info.Size(), maxFixture)
	}
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return err
	}
	var f fixture
	if err := ahp.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("the file is no fixture that can be read: %w", err)
	}
	res.Title = f.Description
	switch {
	case f.Reducer != "":
		return res.reduce(f, opts)
	case f.Type != "" && (f.Input != nil || f.AcceptableOutputs != nil):
		return res.roundTrip(f)
	}
	res.Area, res.Status, res.Reason = "other files", Skipped, "the file is no fixture"
	return nil
}

// notOurs are folders that hold other people's files, or hidden ones.
func notOurs(name string) bool {
	return name == "node_modules" || strings.HasPrefix(name, ".") && name != "."
}

func (res *Result) reduce(f fixture, opts CheckOptions) error {
	res.Place, res.Area = "reducer "+f.Reducer, "reducer "+f.Reducer
	if canvas.ChannelKindNamed(f.Reducer) == nil {
		res.Status, res.Reason = Skipped, "no channel of kind "+f.Reducer+" here"
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
		res.Status, res.Reason = Skipped, "no type "+f.Type+" here"
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

// equal wants one of several values; numbers are compared by their digits.
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
	return fmt.Errorf("want %s, have %s", wants[0], got)
}
