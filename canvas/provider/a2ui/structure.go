package a2ui

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The limits of structure, which A2UI prescribes.
const (
	maxNesting   = 50 // of components, and of data
	maxCallDepth = 5  // of function calls in each other
)

// refRule says where a component names other components.
type refRule struct {
	prop string
	// in is the member of each element, if the property is a list of objects.
	in string
}

// refsOf returns the references of a component's schema.
func (c *Catalog) refsOf(schema map[string]any) (rules []refRule) {
	for name, prop := range c.properties(schema, 8) {
		switch {
		case isRef(prop):
			rules = append(rules, refRule{prop: name})
		case name == "children" || name == "child":
			rules = append(rules, refRule{prop: name}) // catalogs that write the type out
		default:
			for inner, p := range c.properties(object(prop, "items"), 8) {
				if isRef(p) {
					rules = append(rules, refRule{prop: name, in: inner})
				}
			}
			if isRef(object(prop, "items")) {
				rules = append(rules, refRule{prop: name})
			}
		}
	}
	slices.SortFunc(rules, func(a, b refRule) int { return strings.Compare(a.prop+"/"+a.in, b.prop+"/"+b.in) })
	return rules
}

// properties returns the properties of a schema and of the schemas in its allOf.
func (c *Catalog) properties(schema map[string]any, levels int) map[string]map[string]any {
	all := map[string]map[string]any{}
	if schema == nil || levels == 0 {
		return all
	}
	for name, p := range object(schema, "properties") {
		if name != "id" {
			all[name] = object(p)
		}
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		maps.Copy(all, c.properties(object(part), levels-1))
	}
	return all
}

// isRef reports whether a property names components.
func isRef(prop map[string]any) bool {
	ref := str(prop, "$ref")
	return strings.HasSuffix(ref, "/ComponentId") || strings.HasSuffix(ref, "/ChildList")
}

// children returns the ids that a component names.
func (c *Catalog) children(m map[string]any) (ids []string) {
	known := c.components[str(m, "component")]
	if known == nil {
		return nil
	}
	for _, r := range known.refs {
		ids = appendIDs(ids, m[r.prop], r.in)
	}
	return ids
}

// appendIDs appends the ids of a reference: an id, a list of ids, a template, or a list of
// objects with a member in.
func appendIDs(ids []string, v any, in string) []string {
	switch v := v.(type) {
	case string:
		return append(ids, v)
	case []any:
		for _, e := range v {
			if in != "" {
				e = object(e)[in]
			}
			if id, ok := e.(string); ok {
				ids = append(ids, id)
			}
		}
	case map[string]any:
		if id := str(v, "componentId"); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// checkComponents checks the rules of an updateComponents that its schema cannot express.
// It returns the place in the list of components.
func checkComponents(list []any, pathBytes int) *finding {
	seen := map[string]int{}
	for n, e := range list {
		m := object(e)
		id := str(m, "id")
		if first, ok := seen[id]; ok {
			return &finding{at: []string{itoa(n), "id"}, words: fmt.Sprintf("component %s is in the message twice; the first is number %d", quote(id), first)}
		}
		seen[id] = n
		if depthOf(e) > maxNesting {
			return &finding{at: []string{itoa(n)}, words: fmt.Sprintf("component %s is nested more than %d levels deep", quote(id), maxNesting)}
		}
		if sound(m, 0, pathBytes) {
			continue
		}
		if f := checkValue(m, 0, pathBytes); f != nil {
			f.at = slices.Insert(f.at, 0, itoa(n))
			f.words = "component " + quote(id) + ": " + f.words
			return f
		}
	}
	return nil
}

// badEscape finds a ~ that escapes nothing.
var badEscape = regexp.MustCompile(`~([^01]|$)`)

// sound reports whether checkValue finds nothing.
func sound(v any, calls, pathBytes int) bool {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["call"].(string); ok {
			calls++
		}
		if calls > maxCallDepth {
			return false
		}
		for key, e := range v {
			if path, ok := e.(string); ok {
				if key == "path" && (len(path) > pathBytes || badPath(path) != "") {
					return false
				}
			} else if !sound(e, calls, pathBytes) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !sound(e, calls, pathBytes) {
				return false
			}
		}
	}
	return true
}

// checkValue checks function calls and paths in a component's value. It names the first in
// the order of member names.
func checkValue(v any, calls, pathBytes int) *finding {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["call"].(string); ok {
			calls++
		}
		if calls > maxCallDepth {
			return &finding{words: fmt.Sprintf("function calls are nested more than %d levels deep", maxCallDepth)}
		}
		for _, key := range sortedKeys(v) {
			if path, ok := v[key].(string); ok && key == "path" {
				if words := badPath(path); words != "" {
					return &finding{at: []string{key}, words: words}
				}
				if len(path) > pathBytes {
					return &finding{at: []string{key}, words: fmt.Sprintf("the path has %d bytes, at most %d are allowed", len(path), pathBytes)}
				}
			}
			if f := checkValue(v[key], calls, pathBytes); f != nil {
				f.at = slices.Insert(f.at, 0, key)
				return f
			}
		}
	case []any:
		for n, e := range v {
			if f := checkValue(e, calls, pathBytes); f != nil {
				f.at = slices.Insert(f.at, 0, itoa(n))
				return f
			}
		}
	}
	return nil
}

// badPath says what is wrong with a path to data; "" if nothing is.
func badPath(path string) string {
	if strings.Contains(path, "~") && badEscape.MatchString(path) {
		return fmt.Sprintf("the path %s has a ~ that is neither ~0 nor ~1", quote(path))
	}
	for _, s := range segments(path) {
		if forbidden(s) {
			return fmt.Sprintf("the path %s has the segment %s, which is not allowed", quote(path), quote(s))
		}
	}
	return ""
}

// cycle returns what is wrong with the references of a surface's components after a
// change: a circle, or a chain that is too long. It returns the id at which to report it.
func (s *surface) cycle(changed []string) (id, words string) {
	w := walk{of: s.components, depth: map[string]int{}}
	for _, id := range changed { // first, so that the message's own component is named
		if _, words := w.visit(id); words != "" {
			return id, words
		}
	}
	for _, id := range s.order { // a change makes the chains above longer
		d, words := w.visit(id)
		if words == "" && d > maxNesting {
			words = fmt.Sprintf("components are nested more than %d levels deep", maxNesting)
		}
		if words != "" {
			return id, words
		}
	}
	return "", ""
}

// walk measures the chains of references below components.
type walk struct {
	of    map[string]kept
	depth map[string]int // -1 while a component is visited
}

// visit returns the length of the longest chain from a component. It goes at most one
// level deeper than is allowed.
func (w *walk) visit(id string) (int, string) { return w.descend(id, 1) }

func (w *walk) descend(id string, level int) (int, string) {
	if d := w.depth[id]; d != 0 {
		if d < 0 {
			return 0, "is in a circle of references"
		}
		return d, ""
	}
	w.depth[id] = -1
	deepest := 0
	for _, child := range w.of[id].refs {
		if child == id {
			return 0, "names itself as a child"
		}
		d, words := w.descend(child, level+1)
		if words != "" {
			return 0, words
		}
		deepest = max(deepest, d)
	}
	w.depth[id] = deepest + 1
	return deepest + 1, ""
}

// incomplete returns what a stream might still bring: a root, components that others name,
// and others that name components.
func (s *surface) incomplete() (words []string) {
	if len(s.components) == 0 {
		return nil
	}
	if _, ok := s.components["root"]; !ok {
		return []string{`there is no component "root" yet, so nothing is drawn`}
	}
	reached := map[string]bool{"root": true}
	for todo := []string{"root"}; len(todo) > 0; {
		id := todo[0]
		todo = todo[1:]
		for _, child := range s.components[id].refs {
			if _, ok := s.components[child]; !ok {
				words = append(words, fmt.Sprintf("component %s names %s, which has not come yet", quote(id), quote(child)))
			} else if !reached[child] {
				reached[child] = true
				todo = append(todo, child)
			}
		}
	}
	for _, id := range s.order {
		if !reached[id] {
			words = append(words, fmt.Sprintf("component %s is not below root, so it is not drawn", quote(id)))
		}
	}
	return words
}
