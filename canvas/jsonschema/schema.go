package jsonschema

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"strings"
	"sync"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Limits bounds one schema.
type Limits struct {
	Bytes int // of its JSON text; a larger one is refused
	Depth int // in schemas inside each other; a deeper one is not enforced
}

// Schema is a compiled schema. A nil Schema accepts every object, and so does one that
// cannot be enforced. Its methods may be called concurrently.
type Schema struct {
	compiled  *santhosh.Schema // nil if it cannot be enforced
	unchecked error            // why not
	unmatched error            // why a pattern is not enforced

	raw    ahp.Value
	depth  int
	cost   int64 // of the compiled schema, in bytes
	memory *Memory
	place  *list.Element // in memory; guarded by memory.mu

	mu   sync.Mutex // held during a check: the schema counts the work for one input at a time
	left int        // visits that the check may still make
}

// Set compiles schemas that are declared together: they share one budget. The zero
// value is ready to use.
type Set struct {
	// Memory bounds what compiled schemas take; nil keeps all.
	Memory *Memory

	parts, steps int
	known        map[string]pattern // by text
}

// Violation says where an input does not fit a schema.
type Violation struct {
	Path    string // a JSON Pointer into the input; "" is the whole input
	Rule    string // the schema keyword, or "limit" if the check was too expensive
	Message string // for people
}

// Error returns the message.
func (v *Violation) Error() string { return v.Message }

// noRemote refuses every reference that leaves the schema itself.
type noRemote struct{}

func (noRemote) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %q leaves the schema: only references inside it are resolved", url)
}

// baseURL is the base of relative references; nothing has this name.
const baseURL = "ahp-canvas-schema:///schema"

// Compile checks a schema's size and compiles it. A nil raw compiles to a nil Schema. It
// refuses a schema that is too large or not a JSON object; errors read as the end of a
// sentence that begins with the schema's name. A schema that cannot be enforced is
// accepted; see [Schema.Unchecked].
func (s *Set) Compile(raw ahp.Value, limits Limits) (*Schema, error) {
	if raw == nil {
		return nil, nil
	}
	if len(raw) > limits.Bytes {
		return nil, fmt.Errorf("has %d bytes, at most %d are allowed", len(raw), limits.Bytes)
	}
	if !raw.IsValid() || raw.Kind() != '{' {
		return nil, errors.New("is not a JSON object")
	}
	schema := &Schema{raw: raw, depth: limits.Depth, memory: s.Memory}
	parts, steps := s.parts, s.steps
	schema.mu.Lock()
	defer schema.mu.Unlock()
	if err := s.compile(schema, raw, limits.Depth); err != nil {
		return &Schema{unchecked: err}, nil
	}
	schema.cost = int64(len(raw) + (s.parts-parts)*bytesPerPart + (s.steps-steps)*bytesPerStep)
	s.Memory.used(schema)
	return schema, nil
}

// compile compiles a schema within the budget.
func (s *Set) compile(schema *Schema, raw ahp.Value, depth int) error {
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if levels(doc, depth) > depth {
		return fmt.Errorf("has more than %d schemas inside each other", depth)
	}
	if err := s.spendParts(doc); err != nil {
		return err
	}
	compiler := santhosh.NewCompiler()
	compiler.UseLoader(noRemote{})
	compiler.UseRegexpEngine(s.patterns(schema, monotone(doc)))
	if err := compiler.AddResource(baseURL, doc); err != nil {
		return err
	}
	if schema.compiled, err = compiler.Compile(baseURL); err != nil {
		return fmt.Errorf("is not a JSON Schema that this host can use: %s", oneLine(err.Error()))
	}
	return schema.countVisits()
}

// Unchecked returns why inputs are not checked against the schema: it refers to something
// outside, does not compile, or costs too much. It returns nil if they are checked.
func (s *Schema) Unchecked() error {
	if s == nil {
		return nil
	}
	return s.unchecked
}

// Partial returns why a part of the schema is not enforced, although the rest is: a
// pattern that RE2 cannot express, such as one with a lookahead in its middle.
func (s *Schema) Partial() error {
	if s == nil || s.unchecked != nil {
		return nil
	}
	return s.unmatched
}

// Check holds an input, a JSON text, against the schema. It returns nil if the input
// fits.
func (s *Schema) Check(input ahp.Value) *Violation {
	if s == nil || s.unchecked != nil {
		return nil
	}
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(input))
	if err != nil {
		return &Violation{Rule: "type", Message: "the input is not JSON"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return &Violation{Message: "the schema cannot be applied: " + oneLine(err.Error())}
	}
	s.left = maxVisits
	err = s.compiled.Validate(doc)
	if s.left < 0 {
		return &Violation{Rule: "limit", Message: errTooExpensive.Error()}
	}
	return violation(err)
}

// ready compiles a schema that was dropped again. The caller holds its lock.
func (s *Schema) ready() error {
	if s.compiled == nil {
		if err := new(Set).compile(s, s.raw, s.depth); err != nil {
			return err
		}
	}
	s.memory.used(s)
	return nil
}

// violation returns the first leaf of a validation error: the one that says most.
func violation(err error) *Violation {
	if err == nil {
		return nil
	}
	ve, ok := errors.AsType[*santhosh.ValidationError](err)
	if !ok {
		return &Violation{Message: "the input cannot be validated: " + oneLine(err.Error())}
	}
	for len(ve.Causes) > 0 {
		ve = ve.Causes[0]
	}
	v := &Violation{Path: pointer(ve.InstanceLocation)}
	if path := ve.ErrorKind.KeywordPath(); len(path) > 0 {
		v.Rule = path[0]
	}
	v.Message = oneLine(ve.Error())
	if _, rest, ok := strings.Cut(v.Message, "': "); ok && strings.HasPrefix(v.Message, "at '") {
		v.Message = rest
	}
	return v
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(t))
	}
	return b.String()
}

// maxLibraryText bounds how much of the validator's error text is passed on, in
// bytes.
const maxLibraryText = 300

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxLibraryText {
		s = strings.ToValidUTF8(s[:maxLibraryText], "") + "…"
	}
	return s
}
