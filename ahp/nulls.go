package ahp

import (
	"bytes"
	"reflect"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// nullable is what null means in the members of a Go type. A nil nullable has no member
// in which null means absence, at any depth.
type nullable struct {
	absent  map[string]bool      // optional members
	lists   map[string]bool      // required lists: null is the empty list
	members map[string]*nullable // members that have such members
	elem    *nullable            // the elements of an array or a map
}

var nullables sync.Map // reflect.Type -> *nullable

// WithoutNulls returns raw without the nulls that mean absence in a t
// (ahp/PROTOCOL.md section 1): an optional member that is null is left out, a required
// list that is null is []. Nulls with a meaning, and those of opaque and unknown
// members, stay. raw has been decoded as a t before.
func WithoutNulls(raw Value, t reflect.Type) Value {
	if !bytes.Contains(raw, Null) {
		return raw
	}
	n := nullableOf(t)
	if n == nil {
		return raw
	}
	w := scan.Walk(raw)
	return n.append(make(Value, 0, len(raw)), &w)
}

func nullableOf(t reflect.Type) *nullable {
	if n, ok := nullables.Load(t); ok {
		return n.(*nullable)
	}
	n := buildNullable(t, map[reflect.Type]bool{})
	nullables.Store(t, n)
	return n
}

// buildNullable reads the struct tags of t; seen has the types around it.
func buildNullable(t reflect.Type, seen map[reflect.Type]bool) *nullable {
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
		if elem := buildNullable(t.Elem(), seen); elem != nil {
			return &nullable{elem: elem}
		}
	case reflect.Struct:
		n := &nullable{absent: map[string]bool{}, lists: map[string]bool{}, members: map[string]*nullable{}}
		n.addFields(t, seen)
		if len(n.absent)+len(n.lists)+len(n.members) > 0 {
			return n
		}
	}
	return nil
}

func (n *nullable) addFields(t reflect.Type, seen map[reflect.Type]bool) {
	for f := range t.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			n.addFields(f.Type, seen)
			continue
		case !f.IsExported() || name == "-" || name == "" || selfDecoding(f.Type):
			continue
		case opts != "":
			n.absent[name] = true
		case f.Type.Kind() == reflect.Slice:
			n.lists[name] = true
		}
		if sub := buildNullable(f.Type, seen); sub != nil {
			n.members[name] = sub
		}
	}
}

// append appends the walker's next value to b.
func (n *nullable) append(b Value, w *scan.Walker) Value {
	kind := w.Peek()
	switch {
	case n == nil, kind != '{' && kind != '[':
		return append(b, w.Value()...)
	case kind == '{':
		return n.appendObject(b, w)
	}
	b = append(b, '[')
	w.Enter()
	for first := true; w.More(']'); first = false {
		if !first {
			b = append(b, ',')
		}
		b = n.elem.append(b, w)
	}
	return append(b, ']')
}

func (n *nullable) appendObject(b Value, w *scan.Walker) Value {
	b = append(b, '{')
	w.Enter()
	for first := true; w.More('}'); {
		raw := w.Value()
		name, null := scan.Inside(raw), w.Peek() == 'n'
		if null && n.absent[string(name)] {
			w.Value()
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, raw...), ':')
		if null && n.lists[string(name)] {
			w.Value()
			b = append(b, "[]"...)
			continue
		}
		in := n.elem
		if n.elem == nil {
			in = n.members[string(name)]
		}
		b = in.append(b, w)
	}
	return append(b, '}')
}
