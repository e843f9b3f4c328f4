package actionsbridge

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// walk checks targets and sources, wherever they are.
func (c *checker) walk(at string, m map[string]any) {
	visit(at, m, func(at string, m map[string]any) {
		if target, ok := m["target"].(map[string]any); ok {
			c.selectors(at+"/target", target)
		}
		if until, ok := m["until"].(map[string]any); ok {
			c.selectors(at+"/until", until)
		}
		if source, ok := m["source"].(map[string]any); ok {
			c.selectors(at+"/source", source)
			c.files(at+"/source/files", source["files"])
		}
	})
}

func (c *checker) selectors(at string, m map[string]any) {
	for _, member := range []string{"selector", "selectors", "fallback_selectors"} {
		v, ok := m[member]
		if ok && v != nil && !isTexts(v) {
			c.issue(at+"/"+member, "selector", "%s is a text or an array of texts", member)
		}
	}
}

func (c *checker) files(at string, v any) {
	for n, name := range texts(v) {
		if !insideFolder(name) {
			c.issue(fmt.Sprintf("%s/%d", at, n), "source", "a source file is in the folder: %q is not", name)
		}
	}
}

// schemaMembers hold JSON Schemas, in which member names mean something else.
var schemaMembers = []string{"input_schema", "result_schema", "output_schema", "payload"}

// visit calls fn for an object and for all objects in it, but not for schemas. The order is
// that of the member names.
func visit(at string, v any, fn func(at string, m map[string]any)) {
	switch v := v.(type) {
	case []any:
		for n, item := range v {
			visit(fmt.Sprintf("%s/%d", at, n), item, fn)
		}
	case map[string]any:
		fn(at, v)
		for _, name := range sortedKeys(v) {
			if !slices.Contains(schemaMembers, name) {
				visit(at+"/"+escapePointer(name), v[name], fn)
			}
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// texts returns a text, or those of an array.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

func isTexts(v any) bool {
	if _, ok := v.(string); ok {
		return true
	}
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(item any) bool {
		_, isText := item.(string)
		return !isText
	})
}

// insideFolder reports whether a path is relative and does not leave its folder, on any
// system.
func insideFolder(name string) bool {
	if name == "" || strings.ContainsAny(name, "\\:") || strings.HasPrefix(name, "/") {
		return false
	}
	clean := path.Clean(name)
	return clean != ".." && !strings.HasPrefix(clean, "../")
}
