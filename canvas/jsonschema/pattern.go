package jsonschema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/dlclark/regexp2"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// The budget of patterns that only a backtracking matcher can match. Its work for one
// text can be exponential, so it is bounded in time.
const (
	maxBacktracking = 4 << 10                // bytes of such a pattern
	matchTimeout    = 100 * time.Millisecond // of one match
	maxMatching     = 250 * time.Millisecond // of all matches for one input
)

// matcher is a compiled pattern. It fails if the match takes too long.
type matcher interface {
	MatchString(text string) (bool, error)
}

// linear matches with RE2, whose time is linear.
type linear struct{ *regexp.Regexp }

func (l linear) MatchString(text string) (bool, error) { return l.Regexp.MatchString(text), nil }

// pattern is a compiled pattern that counts its matches as visits of its schema.
type pattern struct {
	matcher
	text   string
	schema *Schema
	steps  int
}

// String implements santhosh.Regexp.
func (p *pattern) String() string { return p.text }

// MatchString reports whether text matches; it does not once the budget is spent.
func (p *pattern) MatchString(text string) (matches bool) {
	p.schema.left -= p.steps * len(text) / stepsPerVisit
	if p.schema.left < 0 {
		return false
	}
	if _, ok := p.matcher.(linear); ok {
		matches, _ = p.matcher.MatchString(text)
		return matches
	}
	began := time.Now()
	matches, err := p.backtrack(text)
	p.schema.matching += time.Since(began)
	if err != nil || p.schema.matching > maxMatching {
		p.schema.left = -1
		return false
	}
	return matches
}

// backtrack matches; a matcher that panics fails.
func (p *pattern) backtrack(text string) (matches bool, err error) {
	defer recovered(&err)
	return p.matcher.MatchString(text)
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
		compiled, err := compilePattern(text)
		if err != nil {
			return nil, err
		}
		p := pattern{compiled, text, of, steps}
		if s.known == nil {
			s.known = map[string]pattern{}
		}
		s.known[text] = p
		return &p, nil
	}
}

// compilePattern compiles a pattern with RE2 if RE2 can read it. Otherwise the pattern is
// ECMAScript, for example because it looks ahead.
func compilePattern(text string) (_ matcher, err error) {
	if re2, err := regexp.Compile(text); err == nil {
		return linear{re2}, nil
	}
	if len(text) > maxBacktracking {
		return nil, fmt.Errorf("a pattern that RE2 cannot match has %d bytes, at most %d are allowed", len(text), maxBacktracking)
	}
	defer recovered(&err)
	ecma, err := regexp2.Compile(text, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	ecma.MatchTimeout = matchTimeout
	return ecma, nil
}

// recovered turns a panic of the pattern matcher into an error: patterns and texts come
// from outside.
func recovered(err *error) {
	if recover() != nil {
		*err = errors.New("the pattern cannot be matched")
	}
}

// regexFormat checks a text against the format "regex", without spending the budget of
// declared patterns.
func regexFormat(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	if _, err := syntax.Parse(text, syntax.Perl); err == nil {
		return nil
	}
	_, err := compilePattern(text)
	return err
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
