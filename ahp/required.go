package ahp

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// checkRequired reports the first required member of t that is missing in data.
// data has been decoded before, so it is well formed.
func checkRequired(data []byte, t reflect.Type) error {
	s := shapeOf(t)
	if s == nil || !s.requires {
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
		isNull := p.Peek() == 'n'
		m := s.members[string(name)]
		if !isNull || m.null != nullMissing {
			seen |= m.bit
		}
		in := cmp.Or(m.in, s.elem)
		if in == nil || !in.requires || s.elem == nil && isNull {
			p.Value() // an optional member that is null is absent
			continue
		}
		p.path = append(p.path, string(name))
		if err := in.check(p); err != nil {
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
