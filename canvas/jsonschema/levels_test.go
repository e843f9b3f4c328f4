package jsonschema

import (
	"strings"
	"testing"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// TestLevels: schemas inside schemas count; names, lists and data do not.
func TestLevels(t *testing.T) {
	for text, want := range map[string]int{
		`{}`: 1,
		`{"properties":{"a":{"properties":{"b":{"properties":{"c":{"type":"string"}}}}}}}`: 4,
		`{"allOf":[{"items":[{"not":{}}]}]}`:                                               4,
		`{"properties":{"items":true},"enum":[{"not":{"not":{}}}],"default":[[[[]]]]}`:     1,
		`{"$defs":{"a":{"additionalProperties":{}}}}`:                                      3,
	} {
		doc, err := santhosh.UnmarshalJSON(strings.NewReader(text))
		if got := levels(doc, 32); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
}
