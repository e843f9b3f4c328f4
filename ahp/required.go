package ahp

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// shape is what a Go type requires of a JSON value. It is nil where nothing at
// or below the type is required, and then the value is skipped in one step.
type shape struct {
	required []string          // member names, in field order
	nullable uint64            // bit i: required[i] is opaque, so null is a value of it
	index    map[string]int    // name -> position in required
	members  map[string]*shape // members that have requirements of their own
	elem     *shape            // of an array's elements, or an object's values
}

var shapes sync.Map // reflect.Type -> *shape

// checkRequired walks the value beside its type and reports the first missing
// required member. The bytes have been decoded once, so they are well formed.
func checkRequired(data []byte, t reflect.Type) error {
	s := shapeOf(t)
	if s == nil {
		return nil
	}
	return s.check(jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)))
}

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := buildShape(t, map[reflect.Type]bool{})
	shapes.Store(t, s)
	return s
}

// buildShape reads the tags. A type that decodes itself states its own rules,
// and so does a type met again inside itself.
func buildShape(t reflect.Type, seen map[reflect.Type]bool) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if seen[t] || selfDecoding(t) {
		return nil
	}
	seen[t] = true
	defer delete(seen, t)
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		if elem := buildShape(t.Elem(), seen); elem != nil {
			return &shape{elem: elem}
		}
	case reflect.Struct:
		s := &shape{index: map[string]int{}, members: map[string]*shape{}}
		s.addFields(t, seen)
		if len(s.required) > 0 || len(s.members) > 0 {
			return s
		}
	}
	return nil
}

func (s *shape) addFields(t reflect.Type, seen map[reflect.Type]bool) {
	for f := range t.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			s.addFields(f.Type, seen)
			continue
		case !f.IsExported() || name == "-" || name == "":
			continue
		}
		if opts == "" {
			if f.Type == reflect.TypeFor[Value]() {
				s.nullable |= 1 << len(s.required)
			}
			s.index[name] = len(s.required)
			s.required = append(s.required, name)
		}
		if sub := buildShape(f.Type, seen); sub != nil {
			s.members[name] = sub
		}
	}
}

func selfDecoding(t reflect.Type) bool {
	_, ok := reflect.PointerTo(t).MethodByName("UnmarshalJSONFrom")
	return ok || t == reflect.TypeFor[Value]()
}

func (s *shape) check(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case 'n':
		// The decoder takes null for a zero value, which would lack everything.
		if err := dec.SkipValue(); err != nil || len(s.required) == 0 {
			return err
		}
		return fmt.Errorf("%s: want an object, have null", cmp.Or(string(dec.StackPointer()), "/"))
	case '{':
		return s.checkObject(dec)
	case '[':
		return s.checkArray(dec)
	}
	return dec.SkipValue()
}

func (s *shape) checkArray(dec *jsontext.Decoder) error {
	if s.elem == nil {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		if err := s.elem.check(dec); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func (s *shape) checkObject(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var seen uint64
	members := 0
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		members++
		// The decoder takes null for any zero value; a required member that is
		// null is as good as missing.
		if i, ok := s.index[name]; ok && (dec.PeekKind() != 'n' || s.nullable&(1<<i) != 0) {
			seen |= 1 << i
		}
		sub := s.members[name]
		if sub == nil {
			sub = s.elem
		}
		if sub == nil || s.elem == nil && dec.PeekKind() == 'n' {
			err = dec.SkipValue() // an optional member that is null is absent
		} else {
			err = sub.check(dec)
		}
		if err != nil {
			return err
		}
	}
	for i, name := range s.required {
		if seen&(1<<i) == 0 {
			place := dec.StackPointer()
			if members > 0 {
				place = place.Parent()
			}
			return fmt.Errorf("%s: required", place.AppendToken(name))
		}
	}
	_, err := dec.ReadToken()
	return err
}
