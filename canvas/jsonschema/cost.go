package jsonschema

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// The budget. The size of a schema does not bound its cost, so its parts, the steps of
// its patterns, and the visits of both for one input are counted.
const (
	maxParts      = 4096    // of one schema: objects and booleans
	maxSetParts   = 16384   // of a set
	maxSetSteps   = 1 << 18 // of the compiled patterns of a set
	maxVisits     = 1 << 20 // of parts, for one input
	stepsPerVisit = 64      // of a pattern, for each byte of text
)

var errTooExpensive = errors.New("checking the input against the canvas's schema takes too long")

// spendParts counts a schema's parts, which bound the compiler's work.
func (s *Set) spendParts(v any) error {
	n := partsOf(v)
	if n > maxParts || s.parts+n > maxSetParts {
		return fmt.Errorf("has too many parts, at most %d are allowed, and %d in all that is declared together", maxParts, maxSetParts)
	}
	s.parts += n
	return nil
}

func partsOf(v any) (n int) {
	switch v := v.(type) {
	case bool:
		return 1
	case []any:
		for _, e := range v {
			n += partsOf(e)
		}
	case map[string]any:
		n = 1
		for _, e := range v {
			n += partsOf(e)
		}
	}
	return n
}

// countVisits makes each part of a compiled schema count when the validator visits
// it, together with the parts directly in it: the validator skips some of those
// before they could count themselves.
func (s *Schema) countVisits() error {
	seen := map[*santhosh.Schema]bool{}
	todo := []*santhosh.Schema{s.compiled}
	for len(todo) > 0 {
		part := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[part] {
			continue
		}
		seen[part] = true
		if part.DynamicRef != nil || part.RecursiveRef != nil {
			return errors.New("has a $dynamicRef or $recursiveRef; use $ref, the only reference that this host follows")
		}
		below := partsIn(part)
		s.countPart(part, 1+len(below))
		todo = append(todo, below...)
	}
	return nil
}

// countPart counts in the part's format, which the validator checks before the parts
// in it.
func (s *Schema) countPart(part *santhosh.Schema, visits int) {
	var format santhosh.Format
	if part.Format != nil {
		format = *part.Format
	}
	part.Format = &santhosh.Format{Name: format.Name, Validate: func(v any) error {
		if s.left -= visits; s.left < 0 {
			return errTooExpensive
		}
		if format.Validate == nil {
			return nil
		}
		return format.Validate(v)
	}}
}

// partsIn returns the schemas directly in s, under any keyword.
func partsIn(s *santhosh.Schema) []*santhosh.Schema {
	parts := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, slices.Collect(maps.Values(s.Properties)),
		slices.Collect(maps.Values(s.PatternProperties)), slices.Collect(maps.Values(s.DependentSchemas)),
		[]*santhosh.Schema{s.Ref, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema})
	for _, v := range slices.AppendSeq([]any{s.AdditionalProperties, s.Items, s.AdditionalItems}, maps.Values(s.Dependencies)) {
		switch v := v.(type) {
		case *santhosh.Schema:
			parts = append(parts, v)
		case []*santhosh.Schema:
			parts = append(parts, v...)
		}
	}
	return slices.DeleteFunc(parts, func(p *santhosh.Schema) bool { return p == nil })
}
