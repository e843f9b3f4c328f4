package testcases

import (
	"embed"
	"errors"
	"io/fs"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

//go:embed round-trips
var roundTripFiles embed.FS

// RoundTripCase is a round-trip in the upstream format (README.md): a value of
// a type on the wire, and what decoding and encoding it must give.
type RoundTripCase struct {
	// File is the file name without extension.
	File string `json:"-"`
	// Name is the name of the case.
	Name string `json:"name"`
	// Group is "A" if all readers must give the same output, and "B" if readers
	// that keep unknown members give PreservedOutput.
	Group string `json:"group"`
	// Description is a sentence about what the case tests.
	Description string `json:"description"`
	// Type is the protocol's name of the type.
	Type string `json:"type"`
	// Input is the value to decode.
	Input ahp.Value `json:"input"`
	// AcceptableOutputs has exactly one element: the output of a reader that
	// drops members that the type does not have.
	AcceptableOutputs []ahp.Value `json:"acceptableOutputs"`
	// PreservedOutput is the output of a reader that keeps unknown members.
	PreservedOutput ahp.Value `json:"preservedOutput,omitzero"`
}

// Want returns the required output of a reader that keeps, or drops, unknown
// members of the type.
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

// ReadRoundTrips reads the round-trips in a folder, sorted by name.
func ReadRoundTrips(dir fs.FS) ([]RoundTripCase, error) {
	return readCases(dir, func(c *RoundTripCase, name string) error {
		if c.File = name; len(c.AcceptableOutputs) != 1 {
			return errors.New("/acceptableOutputs: want exactly one element")
		}
		return nil
	})
}
