package jsonschema

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
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
	if s.parts += n; n > maxParts || s.parts > maxSetParts {
		return fmt.Errorf("has too many parts, at most %d are allowed, and %d in all that is declared together", maxParts, maxSetParts)
	}
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

// pattern is a compiled pattern that counts its matches as visits of its schema.
type pattern struct {
	*regexp.Regexp
	schema *Schema
	steps  int
}

// MatchString reports whether text matches; it does not once the budget is spent.
func (p *pattern) MatchString(text string) bool {
	p.schema.left -= p.steps * len(text) / stepsPerVisit
	return p.schema.left >= 0 && p.Regexp.MatchString(text)
}

// patterns returns the engine that compiles the patterns of a schema within the
// budget.
func (s *Set) patterns(of *Schema) santhosh.RegexpEngine {
	return func(text string) (santhosh.Regexp, error) {
		if p, ok := s.known[text]; ok {
			return &pattern{p.Regexp, of, p.steps}, nil
		}
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		steps := stepsOf(tree)
		if s.steps += steps; s.steps > maxSetSteps {
			return nil, fmt.Errorf("the patterns that are declared together repeat too much: they have more than %d steps", maxSetSteps)
		}
		compiled, err := regexp.Compile(text)
		p := pattern{compiled, of, steps}
		if err == nil {
			if s.known == nil {
				s.known = map[string]pattern{}
			}
			s.known[text] = p
		}
		return &p, err
	}
}

// stepsOf estimates how many instructions a pattern compiles to.
func stepsOf(tree *syntax.Regexp) int {
	if tree.Op == syntax.OpLiteral {
		return len(tree.Rune)
	}
	n := 0
	for _, sub := range tree.Sub {
		n += stepsOf(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(tree.Min, tree.Max, 1)
	}
	return min(n+1, maxSetSteps+1)
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
