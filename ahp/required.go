package ahp

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// shape is what a Go type requires of a JSON value. A nil shape requires nothing
// at any depth, so the value is skipped in one step.
type shape struct {
	required []string          // member names, in field order
	nullable uint64            // bit i: required[i] may be null: a Value, or a list, which is empty then
	index    map[string]int    // name to position in required
	members  map[string]*shape // the shapes of members that require something
	elem     *shape            // the shape of an array's elements or a map's values
}

var shapes sync.Map // reflect.Type -> *shape

// checkRequired reports the first required member of t that is missing in data.
// data has been decoded before, so it is well formed.
func checkRequired(data []byte, t reflect.Type) error {
	s := shapeOf(t)
	if s == nil {
		return nil
	}
	return s.check(&place{Walker: scan.Walk(data)})
}

// place is a position in a text.
type place struct {
	scan.Walker
	path []string // the names and indexes that lead to it
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1") // RFC 6901 section 3

// pointer returns the path as a JSON Pointer.
func (p *place) pointer() string {
	var b strings.Builder
	for _, token := range p.path {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(token))
	}
	return b.String()
}

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := buildShape(t, map[reflect.Type]bool{})
	shapes.Store(t, s)
	return s
}

// buildShape reads the struct tags of t. A type that decodes itself checks its own
// rules, so its shape is nil. So is the shape of a type inside itself: recursive
// types are checked at their outermost level only. seen has the types around t.
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
			if f.Type == reflect.TypeFor[Value]() || f.Type.Kind() == reflect.Slice {
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

// check reports the first required member that the next value lacks.
func (s *shape) check(p *place) error {
	switch p.Peek() {
	case '{':
		return s.checkObject(p)
	case '[':
		return s.checkArray(p)
	case 'n':
		// The decoder accepts null and leaves the zero value, without its members.
		if len(s.required) > 0 {
			return fmt.Errorf("%s: want an object, have null", cmp.Or(p.pointer(), "/"))
		}
	}
	p.Value()
	return nil
}

func (s *shape) checkArray(p *place) error {
	if s.elem == nil {
		p.Value()
		return nil
	}
	p.Enter()
	for i := 0; p.More(']'); i++ {
		p.path = append(p.path, strconv.Itoa(i))
		if err := s.elem.check(p); err != nil {
			return err
		}
		p.path = p.path[:len(p.path)-1]
	}
	return nil
}

func (s *shape) checkObject(p *place) error {
	var seen uint64
	p.Enter()
	for p.More('}') {
		name := p.Name()
		null := p.Peek() == 'n'
		// A required member that is null counts as missing, but for an opaque one and a list.
		if i, ok := s.index[string(name)]; ok && (!null || s.nullable&(1<<i) != 0) {
			seen |= 1 << i
		}
		sub := s.members[string(name)]
		if sub == nil {
			sub = s.elem
		}
		if sub == nil || s.elem == nil && null {
			p.Value() // an optional member that is null is absent
			continue
		}
		p.path = append(p.path, string(name))
		if err := sub.check(p); err != nil {
			return err
		}
		p.path = p.path[:len(p.path)-1]
	}
	for i, name := range s.required {
		if seen&(1<<i) == 0 {
			p.path = append(p.path, name)
			return fmt.Errorf("%s: required", p.pointer())
		}
	}
	return nil
}
