package ahp

import (
	"reflect"
	"strings"
	"sync"
)

// shape is what a Go type says of a JSON value's members. A nil shape says nothing at any
// depth, so the value is skipped in one step.
type shape struct {
	required []string          // member names, in field order
	members  map[string]member // of an object
	elem     *shape            // the shape of an array's elements or a map's values
	requires bool              // a member is required, here or deeper
	nulls    bool              // a member's null is dropped or replaced, here or deeper
}

// member is what a struct field says.
type member struct {
	bit  uint64 // 1<<i for required[i]; 0 for an optional member
	null null   // what null means
	in   *shape // the shape of its value
}

// null is what null means as the value of a member.
type null int

const (
	nullMissing null = iota // a required member is missing
	nullStays               // it has a meaning, or the member is opaque
	nullAbsent              // an optional member is absent
	nullEmpty               // a required list is empty
)

var shapes sync.Map // reflect.Type -> *shape

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
			return &shape{elem: elem, requires: elem.requires, nulls: elem.nulls}
		}
	case reflect.Struct:
		s := &shape{members: map[string]member{}}
		s.addFields(t, seen)
		if s.requires || s.nulls {
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
		m := member{null: nullOf(f.Type, opts == ""), in: buildShape(f.Type, seen)}
		if opts == "" {
			m.bit = 1 << len(s.required)
			s.required = append(s.required, name)
		}
		s.members[name] = m
		s.requires = s.requires || m.bit != 0 || m.in != nil && m.in.requires
		s.nulls = s.nulls || m.null == nullAbsent || m.null == nullEmpty || m.in != nil && m.in.nulls
	}
}

// nullOf returns what null means in a field.
func nullOf(t reflect.Type, required bool) null {
	list := t.Kind() == reflect.Slice // so is a Value
	switch {
	case required && !list:
		return nullMissing
	case selfDecoding(t):
		return nullStays
	case required:
		return nullEmpty
	}
	return nullAbsent
}

func selfDecoding(t reflect.Type) bool {
	_, ok := reflect.PointerTo(t).MethodByName("UnmarshalJSONFrom")
	return ok || t == reflect.TypeFor[Value]()
}
