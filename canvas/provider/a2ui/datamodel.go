package a2ui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxIndex limits the index that a pointer can have in an array, because the elements
// before it are filled with null.
const maxIndex = 1<<14 - 1

var (
	numeric  = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// segments returns the unescaped segments of a pointer. Empty ones do not count.
func segments(pointer string) (all []string) {
	for s := range strings.SplitSeq(pointer, "/") {
		if s != "" {
			all = append(all, unescape.Replace(s))
		}
	}
	return all
}

// forbidden reports whether a segment would reach a prototype in a page.
func forbidden(s string) bool { return s == "__proto__" || s == "constructor" || s == "prototype" }

// dataError says why a pointer cannot be followed.
type dataError string

func (e dataError) Error() string { return string(e) }

// change sets or removes what is at a pointer in a data model, and returns the model. On an
// error the model is unchanged.
func change(root any, path string, value any, remove bool) (any, error) {
	all := segments(path)
	if words := badPath(path); words != "" {
		return root, dataError(words)
	}
	if len(all) == 0 {
		if remove {
			return map[string]any{}, nil
		}
		return value, nil
	}
	if root == nil {
		root = map[string]any{}
	}
	if err := follow(root, path, all); err != nil {
		return root, err
	}
	return put(root, all, value, remove), nil
}

// follow checks that a pointer can be followed, down to what does not exist yet.
func follow(at any, path string, all []string) error {
	for n, s := range all {
		switch v := at.(type) {
		case map[string]any:
			at = v[s]
		case []any:
			index, err := indexOf(path, s)
			if err != nil {
				return err
			}
			at = nil
			if index < len(v) {
				at = v[index]
			}
		case nil:
			return followNew(path, all[n:])
		default:
			return dataError(fmt.Sprintf("the path %s leads through %s, which is no object or array", quote(path), short(v)))
		}
	}
	return nil
}

// followNew checks the segments for which containers are made.
func followNew(path string, rest []string) error {
	for _, s := range rest {
		if numeric.MatchString(s) {
			if _, err := indexOf(path, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func indexOf(path, s string) (int, error) {
	if !numeric.MatchString(s) {
		return 0, dataError(fmt.Sprintf("the path %s has %s in an array; want a number", quote(path), quote(s)))
	}
	index, err := strconv.Atoi(s)
	if err != nil || index > maxIndex {
		return 0, dataError(fmt.Sprintf("the path %s has the index %s; at most %d is allowed", quote(path), cut(s), maxIndex))
	}
	return index, nil
}

// put changes a container along segments that follow has checked, and returns it.
func put(at any, all []string, value any, remove bool) any {
	s, rest := all[0], all[1:]
	if at == nil {
		at = any(map[string]any{})
		if numeric.MatchString(s) {
			at = []any{}
		}
	}
	switch v := at.(type) {
	case map[string]any:
		switch {
		case len(rest) > 0:
			v[s] = put(v[s], rest, value, remove)
		case remove:
			delete(v, s)
		default:
			v[s] = value
		}
		return v
	case []any:
		index, _ := strconv.Atoi(s) // follow has checked it
		for len(v) <= index {
			v = append(v, nil)
		}
		switch {
		case len(rest) > 0:
			v[index] = put(v[index], rest, value, remove)
		case remove:
			v[index] = nil
		default:
			v[index] = value
		}
		return v
	}
	return at
}
