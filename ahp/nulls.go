package ahp

import (
	"bytes"
	"cmp"
	"reflect"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// WithoutNulls returns raw without the nulls that mean absence in a t
// (ahp/PROTOCOL.md section 1): an optional member that is null is left out, a required
// list that is null is []. Nulls with a meaning, and those of opaque and unknown
// members, stay. raw has been decoded as a t before.
func WithoutNulls(raw Value, t reflect.Type) Value {
	if !bytes.Contains(raw, Null) {
		return raw
	}
	s := shapeOf(t)
	if s == nil || !s.nulls {
		return raw
	}
	w := scan.Walk(raw)
	return s.append(make(Value, 0, len(raw)), &w)
}

// append appends the walker's next value to b, without nulls.
func (s *shape) append(b Value, w *scan.Walker) Value {
	kind := w.Peek()
	switch {
	case s == nil, !s.nulls, kind != '{' && kind != '[':
		return append(b, w.Value()...)
	case kind == '{':
		return s.appendObject(b, w)
	}
	b = append(b, '[')
	w.Enter()
	for first := true; w.More(']'); first = false {
		if !first {
			b = append(b, ',')
		}
		b = s.elem.append(b, w)
	}
	return append(b, ']')
}

func (s *shape) appendObject(b Value, w *scan.Walker) Value {
	b = append(b, '{')
	w.Enter()
	for first := true; w.More('}'); {
		raw := w.Value()
		m, isNull := s.members[string(scan.Inside(raw))], w.Peek() == 'n'
		if isNull && m.null == nullAbsent {
			w.Value()
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, raw...), ':')
		if isNull && m.null == nullEmpty {
			w.Value()
			b = append(b, "[]"...)
			continue
		}
		b = cmp.Or(m.in, s.elem).append(b, w)
	}
	return append(b, '}')
}
