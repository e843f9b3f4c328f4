package bridge

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// members calls each with the raw name and value of each member of an object. It reports
// whether the text is an object. The text was validated with the frame around it.
func members(text []byte, each func(name, value []byte)) bool {
	w := scan.Walk(text)
	if w.Peek() != '{' {
		return false
	}
	for w.Enter(); w.More('}'); {
		name := w.Value()
		each(name, w.Value())
	}
	return true
}

// elements calls each with the elements of an array until it returns false. It reports
// whether the text is an array and all calls returned true.
func elements(text []byte, each func(value []byte) bool) bool {
	w := scan.Walk(text)
	if w.Peek() != '[' {
		return false
	}
	for w.Enter(); w.More(']'); {
		if !each(w.Value()) {
			return false
		}
	}
	return true
}

// text decodes a string; ok is false if the value is not a string.
func text(v []byte) (s string, ok bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	inner := v[1 : len(v)-1]
	for _, c := range inner {
		if c == '\\' || c < ' ' || c >= 0x80 {
			return s, ahp.Unmarshal(v, &s) == nil
		}
	}
	return string(inner), true
}

// integer decodes a non-negative integer of digits, at most max.
func integer(v []byte, max int64) (n int64, ok bool) {
	if len(v) == 0 || len(v) > 16 || len(v) > 1 && v[0] == '0' {
		return 0, false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n <= max
}
