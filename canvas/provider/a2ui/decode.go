package a2ui

import (
	"bytes"
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// decode returns a value as a tree. The value is valid JSON.
func decode(v ahp.Value) (any, error) {
	d := decoder{text: v}
	if tree, ok := d.value(); ok && d.next() == 0 {
		return tree, nil
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(v)) // says what is wrong
}

// decoder reads valid JSON. It does not detect all errors in other text.
type decoder struct {
	text []byte
	at   int
}

// next returns the first byte of the next token; 0 at the end.
func (d *decoder) next() byte {
	for ; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take passes a byte if it is the next one.
func (d *decoder) take(c byte) bool {
	if d.next() != c {
		return false
	}
	d.at++
	return true
}

func (d *decoder) value() (any, bool) {
	switch c := d.next(); c {
	case '{':
		return d.object()
	case '[':
		return d.list()
	case '"':
		return d.string()
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	}
	from := d.at
	for d.at < len(d.text) && bytes.IndexByte([]byte("+-.0123456789eE"), d.text[d.at]) >= 0 {
		d.at++
	}
	return json.Number(d.text[from:d.at]), d.at > from
}

func (d *decoder) word(w string) bool {
	ok := bytes.HasPrefix(d.text[d.at:], []byte(w))
	d.at += len(w)
	return ok
}

func (d *decoder) object() (any, bool) {
	d.at++
	m := map[string]any{}
	if d.take('}') {
		return m, true
	}
	for {
		if d.next() != '"' {
			return nil, false
		}
		name, ok := d.string()
		if !ok || !d.take(':') {
			return nil, false
		}
		if m[name], ok = d.value(); !ok {
			return nil, false
		}
		if !d.take(',') {
			return m, d.take('}')
		}
	}
}

func (d *decoder) list() (any, bool) {
	d.at++
	list := []any{}
	if d.take(']') {
		return list, true
	}
	for {
		e, ok := d.value()
		if !ok {
			return nil, false
		}
		list = append(list, e)
		if !d.take(',') {
			return list, d.take(']')
		}
	}
}

// string reads a string, which begins here.
func (d *decoder) string() (string, bool) {
	from := d.at
	for d.at++; d.at < len(d.text); d.at++ {
		switch d.text[d.at] {
		case '"':
			d.at++
			return string(d.text[from+1 : d.at-1]), true
		case '\\':
			return d.escaped(from)
		}
	}
	return "", false
}

// escaped reads a string with escapes, which begins at from.
func (d *decoder) escaped(from int) (string, bool) {
	for ; d.at < len(d.text); d.at++ {
		switch d.text[d.at] {
		case '\\':
			d.at++
		case '"':
			d.at++
			var s string
			err := ahp.Unmarshal(d.text[from:d.at], &s)
			return s, err == nil
		}
	}
	return "", false
}
