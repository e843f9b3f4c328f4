package canvas

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What a schema costs is no matter of its size: references that each name two others
// are looked at for ever, and repetitions in patterns take gigabytes. So its parts, the
// steps of its patterns and the looks at both for one input are counted. Whoever
// declares pays for all of a set.
const (
	maxParts    = 4096    // of one schema: objects and booleans
	maxSetParts = 16384   // of a set
	maxSetSteps = 1 << 18 // of the patterns of a set, as programs
	maxLooks    = 1 << 20 // at parts, for one input
	stepsALook  = 64      // of a pattern, for each byte
)

var errCostly = errors.New("it takes too long to hold the input against the canvas's schema")

// spending is what the schemas of a set have cost so far.
type spending struct {
	parts, steps int
	known        map[string]pattern // by text: each is met more than once
}

// doc counts what a schema may have the compiler do.
func (s *spending) doc(v any) error {
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

// pattern is one of a schema, which counts when it is looked for.
type pattern struct {
	*regexp.Regexp
	schema *schema
	steps  int
}

// MatchString reports whether a text holds what the pattern says.
func (p *pattern) MatchString(text string) bool {
	p.schema.left -= p.steps * len(text) / stepsALook
	return p.schema.left >= 0 && p.Regexp.MatchString(text)
}

// patterns compiles those of a schema, where they are not too long as programs.
func (s *spending) patterns(of *schema) jsonschema.RegexpEngine {
	return func(text string) (jsonschema.Regexp, error) {
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
			s.known[text] = p
		}
		return &p, err
	}
}

// stepsOf is about how many a pattern is compiled to.
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

// count has each part of a compiled schema count when it is looked at, with those
// directly in it, of which some are passed over before they can.
func (s *schema) count() error {
	seen := map[*jsonschema.Schema]bool{}
	todo := []*jsonschema.Schema{s.compiled}
	for len(todo) > 0 {
		part := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[part] {
			continue
		}
		seen[part] = true
		if part.DynamicRef != nil || part.RecursiveRef != nil {
			return errors.New("has a $dynamicRef or $recursiveRef: this host follows $ref only")
		}
		below := partsIn(part)
		s.countOne(part, 1+len(below))
		todo = append(todo, below...)
	}
	return nil
}

// countOne stands where formats do: they are asked before a part's own parts are.
func (s *schema) countOne(part *jsonschema.Schema, looks int) {
	var format jsonschema.Format
	if part.Format != nil {
		format = *part.Format
	}
	part.Format = &jsonschema.Format{Name: format.Name, Validate: func(v any) error {
		if s.left -= looks; s.left < 0 {
			return errCostly
		}
		if format.Validate == nil {
			return nil
		}
		return format.Validate(v)
	}}
}

// partsIn are the schemas that stand directly in one, by whichever keyword.
func partsIn(s *jsonschema.Schema) []*jsonschema.Schema {
	parts := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, slices.Collect(maps.Values(s.Properties)),
		slices.Collect(maps.Values(s.PatternProperties)), slices.Collect(maps.Values(s.DependentSchemas)),
		[]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema})
	for _, v := range slices.AppendSeq([]any{s.AdditionalProperties, s.Items, s.AdditionalItems}, maps.Values(s.Dependencies)) {
		switch v := v.(type) {
		case *jsonschema.Schema:
			parts = append(parts, v)
		case []*jsonschema.Schema:
			parts = append(parts, v...)
		}
	}
	return slices.DeleteFunc(parts, func(p *jsonschema.Schema) bool { return p == nil })
}
