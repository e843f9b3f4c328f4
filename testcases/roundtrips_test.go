package testcases_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

func roundTrips(t *testing.T) []testcases.RoundTripCase {
	t.Helper()
	all, err := testcases.RoundTrips()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d round-trips: %v", len(all), err)
	}
	return all
}

// TestRoundTrips checks that a type keeps values byte for byte, and drops only
// the members that it may drop.
func TestRoundTrips(t *testing.T) {
	for _, c := range roundTrips(t) {
		t.Run(c.File, func(t *testing.T) {
			got, err := wire.RoundTrip(c.Type, c.Input)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.Want(wire.Keeps(c.Type)); !ahp.Equal(got, want) {
				t.Errorf("want %s\nhave %s", want, got)
			}
			again, err := wire.RoundTrip(c.Type, got)
			if err != nil || !ahp.Equal(got, again) {
				t.Errorf("a second time: %v\nwant %s\nhave %s", err, got, again)
			}
		})
	}
}

// TestRoundTripFiles checks the format of the files.
func TestRoundTripFiles(t *testing.T) {
	for _, c := range roundTrips(t) {
		if c.Name != c.File || c.Description == "" {
			t.Errorf("%s: name %q, description %q", c.File, c.Name, c.Description)
		}
		if group := map[bool]string{true: "A", false: "B"}[c.PreservedOutput == nil]; c.Group != group {
			t.Errorf("%s: group %q, want %q", c.File, c.Group, group)
		}
		if c.PreservedOutput != nil && !ahp.Equal(c.PreservedOutput, c.Input) {
			t.Errorf("%s: a reader that keeps everything gives the input back", c.File)
		}
	}
}

// TestRoundTripCoverage checks that every type and every action has a case, and
// that every type that keeps unknown members has one with such a member.
func TestRoundTripCoverage(t *testing.T) {
	types, keeping, tags, large := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range roundTrips(t) {
		types[c.Type] = true
		keeping[c.Type] = keeping[c.Type] || c.PreservedOutput != nil || c.Type == "Customization"
		large[c.Type] = large[c.Type] || strings.Contains(string(c.Input), "9007199254740993")
		if tag, err := ahp.ActionTag(c.Input); err == nil && c.Type == wire.StateAction {
			tags[tag] = true
		}
	}
	for _, name := range wire.Names() {
		if !types[name] {
			t.Errorf("type %s: no round-trip", name)
		}
		if wire.Keeps(name) && !keeping[name] {
			t.Errorf("type %s: no round-trip with an unknown member", name)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(wire.Tables())) {
		for _, row := range wire.Tables()[kind].Rows() {
			if !row.Alias && !tags[row.Type] {
				t.Errorf("action %s: no round-trip", row.Type)
			}
		}
	}
	for _, name := range []string{"ActionEnvelope", "SessionState", "CanvasState", "RootState", wire.StateAction} {
		if !large[name] {
			t.Errorf("type %s: no round-trip with a number beyond 2^53", name)
		}
	}
}
