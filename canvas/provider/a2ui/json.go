package a2ui

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// A decoded value is a tree of map[string]any, []any, string, bool, nil and json.Number,
// which keeps a number's digits.

// encode returns a tree as JSON, with sorted members.
func encode(tree any) ahp.Value {
	b, _ := scratch.Get().(*[]byte)
	*b = appendTree((*b)[:0], tree)
	v := ahp.Value(slices.Clone(*b)) // kept values have no spare capacity
	if cap(*b) <= maxScratch {
		scratch.Put(b)
	}
	return v
}

// scratch has buffers in which values are encoded.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch is the largest buffer that is used again.
const maxScratch = 64 << 10

func appendTree(b []byte, tree any) []byte {
	switch v := tree.(type) {
	case ahp.Value: // a part that was encoded before
		return append(b, v...)
	case map[string]any:
		var few [16]string
		b = append(b, '{')
		for n, key := range appendKeys(few[:0], v) {
			if n > 0 {
				b = append(b, ',')
			}
			b = append(ahp.AppendString(b, key), ':')
			b = appendTree(b, v[key])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for n, e := range v {
			if n > 0 {
				b = append(b, ',')
			}
			b = appendTree(b, e)
		}
		return append(b, ']')
	case string:
		return ahp.AppendString(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	}
	return append(b, "null"...)
}

func sortedKeys(m map[string]any) []string { return appendKeys(make([]string, 0, len(m)), m) }

// appendKeys appends the sorted keys of an object to none.
func appendKeys(keys []string, m map[string]any) []string {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// clone returns a copy that shares nothing with the tree.
func clone(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for key, e := range v {
			c[key] = clone(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for n, e := range v {
			c[n] = clone(e)
		}
		return c
	}
	return tree
}

// depthOf returns how deeply a tree is nested: 0 for a value that is no container.
func depthOf(tree any) (depth int) {
	switch v := tree.(type) {
	case map[string]any:
		for _, e := range v {
			depth = max(depth, depthOf(e))
		}
		return depth + 1
	case []any:
		for _, e := range v {
			depth = max(depth, depthOf(e))
		}
		return depth + 1
	}
	return 0
}

// longest returns the length of the longest string in a tree, member names included.
func longest(tree any) (most int) {
	switch v := tree.(type) {
	case map[string]any:
		for key, e := range v {
			most = max(most, len(key), longest(e))
		}
	case []any:
		for _, e := range v {
			most = max(most, longest(e))
		}
	case string:
		most = len(v)
	}
	return most
}

// pointer returns a JSON Pointer.
func pointer(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// object returns a tree's member that is an object.
func object(tree any, names ...string) map[string]any {
	for _, name := range names {
		m, _ := tree.(map[string]any)
		tree = m[name]
	}
	m, _ := tree.(map[string]any)
	return m
}

// str returns an object's member that is a string.
func str(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}
