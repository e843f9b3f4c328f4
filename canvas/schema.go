package canvas

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// schema is a declared JSON Schema, compiled. A nil one accepts any object.
type schema struct {
	compiled *jsonschema.Schema

	mu   sync.Mutex // held over a check: one input at a time
	left int        // looks at parts that the check may still take
}

// noRemote refuses every reference that leaves the schema itself.
type noRemote struct{}

func (noRemote) Load(url string) (any, error) {
	return nil, fmt.Errorf("a reference to %q leaves the schema: only references inside it are resolved", url)
}

// schemaURL is the base that relative references are resolved against; it
// names nothing that exists.
const schemaURL = "ahp-canvas-schema:///schema"

// compile checks a declared schema against the limits and compiles it. What that
// costs, and holding an input against it, is bounded (schemacost.go); patterns are
// RE2, so matching is linear.
func (l *Limits) compile(raw ahp.Value, spent *spending) (*schema, error) {
	if raw == nil {
		return nil, nil
	}
	if len(raw) > l.SchemaBytes {
		return nil, fmt.Errorf("has %d bytes, at most %d are allowed", len(raw), l.SchemaBytes)
	}
	if !raw.IsValid() || raw.Kind() != '{' {
		return nil, errors.New("is not a JSON object")
	}
	if d := depth(raw); d > l.SchemaDepth {
		return nil, fmt.Errorf("is nested %d levels deep, at most %d are allowed", d, l.SchemaDepth)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if err := spent.doc(doc); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noRemote{})
	s := &schema{}
	c.UseRegexpEngine(spent.patterns(s))
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	if s.compiled, err = c.Compile(schemaURL); err != nil {
		return nil, fmt.Errorf("is no JSON Schema that this host can use: %s", oneLine(err.Error()))
	}
	return s, s.count()
}

// check holds an input against the schema.
func (s *schema) check(doc any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = maxLooks
	err := s.compiled.Validate(doc)
	if s.left < 0 {
		return &Error{Code: CodeInputInvalid, Path: "/input", Rule: "limit", Message: errCostly.Error()}
	}
	return invalidInput(err)
}

// validate holds an input against the schema. An absent input counts as an empty
// object, so that it is valid where nothing is required (canvas.md section 3).
func (l *Limits) validate(s *schema, input ahp.Value) error {
	if len(input) > l.InputBytes {
		return &Error{Code: CodeInputInvalid, Path: "/input", Rule: "maxLength",
			Message: fmt.Sprintf("the input has %d bytes, at most %d are allowed", len(input), l.InputBytes)}
	}
	if input == nil {
		if s == nil {
			return nil
		}
		input = ahp.Value("{}")
	}
	if !input.IsValid() || input.Kind() != '{' {
		return &Error{Code: CodeInputInvalid, Path: "/input", Rule: "type", Message: "the input must be a JSON object"}
	}
	if err := l.shape(input); err != nil {
		return &Error{Code: CodeInputInvalid, Path: "/input", Rule: "limit", Message: "the input " + err.Error()}
	}
	if s == nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
	if err != nil {
		return &Error{Code: CodeInputInvalid, Path: "/input", Rule: "type", Message: "the input is not JSON"}
	}
	return s.check(doc)
}

// invalidInput finds the one violation that tells most: the first leaf.
func invalidInput(err error) error {
	if err == nil {
		return nil
	}
	ve, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return &Error{Code: CodeInputInvalid, Path: "/input", Message: "the input cannot be validated: " + oneLine(err.Error())}
	}
	for len(ve.Causes) > 0 {
		ve = ve.Causes[0]
	}
	e := &Error{Code: CodeInputInvalid, Path: "/input" + pointer(ve.InstanceLocation)}
	if path := ve.ErrorKind.KeywordPath(); len(path) > 0 {
		e.Rule = path[0]
	}
	said := oneLine(ve.Error())
	if _, rest, ok := strings.Cut(said, "': "); ok && strings.HasPrefix(said, "at '") {
		said = rest
	}
	e.Message = fmt.Sprintf("the input does not fit at %s: %s", e.Path, said)
	return e
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(t))
	}
	return b.String()
}

const longest = 300 // bytes of a library's error text that are passed on

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return s
}

// depth counts how many arrays and objects stand inside each other in a valid
// JSON text.
func depth(v ahp.Value) int {
	level, deepest := 0, 0
	inString := false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}
