package jsonschema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

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
			p.schema = of
			return &p, nil
		}
		steps := stepsIn(text)
		if s.steps+steps > maxSetSteps {
			return nil, fmt.Errorf("the patterns that are declared together repeat too much: they have more than %d steps", maxSetSteps)
		}
		s.steps += steps
		compiled, err := regexp.Compile(text) // RE2: its time is linear
		if err != nil {
			return nil, err
		}
		p := pattern{compiled, of, steps}
		if s.known == nil {
			s.known = map[string]pattern{}
		}
		s.known[text] = p
		return &p, nil
	}
}

// stepsIn estimates how many instructions a pattern compiles to.
func stepsIn(text string) int {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return len(text)
	}
	return stepsOf(tree)
}

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
