package testcases

import (
	"embed"
	"errors"
	"io/fs"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

//go:embed round-trips
var roundTripFiles embed.FS

// RoundTripCase is one round-trip, in the format of the upstream ones (README.md):
// a value of a type on the wire, and what decoding and encoding it may give.
type RoundTripCase struct {
	File        string    `json:"-"` // file name without its ending
	Name        string    `json:"name"`
	Group       string    `json:"group"` // "A": one answer; "B": readers of unknown members have another
	Description string    `json:"description"`
	Type        string    `json:"type"` // the protocol's name of it
	Input       ahp.Value `json:"input"`
	// AcceptableOutputs has exactly one element: what a reader gives that knows
	// the type and drops what the type does not have.
	AcceptableOutputs []ahp.Value `json:"acceptableOutputs"`
	// PreservedOutput is what a reader gives that keeps unknown members.
	PreservedOutput ahp.Value `json:"preservedOutput,omitzero"`
}

// Want returns what a reader has to give that keeps unknown members of the
// type, or one that drops them.
func (c RoundTripCase) Want(keeps bool) ahp.Value {
	if keeps && c.PreservedOutput != nil {
		return c.PreservedOutput
	}
	return c.AcceptableOutputs[0]
}

// RoundTrips returns this project's round-trips, sorted by name.
func RoundTrips() ([]RoundTripCase, error) {
	sub, err := fs.Sub(roundTripFiles, "round-trips")
	if err != nil {
		return nil, err
	}
	return ReadRoundTrips(sub)
}

// ReadRoundTrips reads the round-trips of a folder, sorted by name.
func ReadRoundTrips(dir fs.FS) ([]RoundTripCase, error) {
	return readCases(dir, func(c *RoundTripCase, name string) error {
		if c.File = name; len(c.AcceptableOutputs) != 1 {
			return errors.New("/acceptableOutputs: want exactly one")
		}
		return nil
	})
}
