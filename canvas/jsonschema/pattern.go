package jsonschema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is a compiled pattern that counts its matches as visits of its schema.
type pattern struct {
	text    string
	matcher matcher // nil if the pattern cannot be checked
	schema  *Schema
	steps   int
}

// String returns the pattern as it was declared.
func (p *pattern) String() string { return p.text }

// MatchString reports whether text matches; it does not once the budget is spent. A
// pattern that cannot be checked matches everything.
func (p *pattern) MatchString(text string) bool {
	p.schema.left -= p.steps * len(text) / stepsPerVisit
	return p.schema.left >= 0 && p.matcher.matches(text)
}

// patterns returns the engine that compiles the patterns of a schema within the
// budget. If lenient, a pattern that cannot be checked is noted and matches everything.
func (s *Set) patterns(of *Schema, lenient bool) santhosh.RegexpEngine {
	return func(text string) (santhosh.Regexp, error) {
		p, known := s.known[text]
		if !known {
			var err error
			if p, err = s.compilePattern(text); err != nil {
				return nil, err
			}
		}
		if p.matcher == nil {
			of.unmatched = fmt.Errorf("has a pattern that this host cannot match: %q", oneLine(text))
			if !lenient {
				return nil, of.unmatched
			}
		}
		p.schema = of
		return &p, nil
	}
}

// compilePattern compiles a pattern within the budget. The result has no matcher if the
// pattern is not one that RE2 can express.
func (s *Set) compilePattern(text string) (pattern, error) {
	p := pattern{text: text}
	parts, err := translate(text)
	if err == nil {
		for _, part := range parts {
			p.steps += stepsIn(part.text)
		}
		if s.steps+p.steps > maxSetSteps {
			return p, fmt.Errorf("the patterns that are declared together repeat too much: they have more than %d steps", maxSetSteps)
		}
		s.steps += p.steps
		p.matcher = compileParts(parts)
	}
	if s.known == nil {
		s.known = map[string]pattern{}
	}
	s.known[text] = p
	return p, nil
}

// compileParts returns nil if a part does not compile.
func compileParts(parts translation) matcher {
	m := make(matcher, len(parts))
	for n, part := range parts {
		compiled, err := regexp.Compile(part.text) // RE2: its time is linear
		if err != nil {
			return nil
		}
		m[n].Regexp, m[n].negative = compiled, part.negative
	}
	return m
}

// monotone reports whether a schema accepts at least as much if one of its patterns
// accepts everything. Under some keywords it accepts less, and a pattern that names
// properties selects schemas.
func monotone(schema any) bool {
	switch v := schema.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !monotone(e) })
	case map[string]any:
		for keyword, value := range v {
			switch keyword {
			case "not", "if", "oneOf", "maxContains", "patternProperties":
				return false
			}
			if !monotone(value) {
				return false
			}
		}
	}
	return true
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
	n := len(tree.Rune) / 16 // a class with many ranges takes memory
	for _, sub := range tree.Sub {
		n += stepsOf(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(tree.Min, tree.Max, 1)
	}
	return min(n+1, maxSetSteps+1)
}
