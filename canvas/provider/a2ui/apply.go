package a2ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Result is what a list of messages came to.
type Result struct {
	// Applied counts the messages that were applied.
	Applied int
	// Errors are the messages that were not applied, in order.
	Errors []Failure
	// Warnings are what a later message might complete, and spellings that were corrected.
	Warnings []Failure
	// Out is what renderers get: the applied messages, with the names of owners.
	Out []ahp.Value
}

// update is a message that is being applied.
type update struct {
	index   int
	owner   string
	version string
	key     string         // of updateKeys
	body    map[string]any // its member key
	message map[string]any
	failure *Failure
	warning string
}

// fail records the first failure.
func (u *update) fail(code string, at []string, words string) {
	if u.failure == nil {
		u.failure = &Failure{Index: u.index, Code: code, SurfaceID: str(u.body, "surfaceId"), Path: pointer(at...), Message: words}
	}
}

// Apply applies an owner's messages in order. A message is applied entirely or not at all;
// one that is wrong does not stop the others.
func (s *Surfaces) Apply(owner string, list []ahp.Value) (r Result) {
	if len(list) > s.limits.Messages {
		r.Errors = []Failure{{Index: s.limits.Messages, Code: CodeTooLarge, Message: fmt.Sprintf("%d messages, at most %d are allowed at a time; send several lists", len(list), s.limits.Messages)}}
		return r
	}
	touched := map[string]int{}
	for n, raw := range list {
		u := update{index: n, owner: owner}
		s.apply(&u, raw)
		if u.failure != nil {
			r.Errors = append(r.Errors, *u.failure)
			continue
		}
		r.Applied++
		r.Out = append(r.Out, encode(u.message))
		touched[str(u.body, "surfaceId")] = n
		if u.warning != "" {
			r.Warnings = append(r.Warnings, Failure{Index: n, Code: CodeCatalogUnsupported, SurfaceID: str(u.body, "surfaceId"), Path: "/createSurface/catalogId", Message: u.warning})
		}
	}
	for _, f := range s.list {
		n, ok := touched[f.id]
		if !ok {
			continue
		}
		for _, words := range f.incomplete() {
			r.Warnings = append(r.Warnings, Failure{Index: n, Code: CodeValidationFailed, SurfaceID: f.id, Path: "/updateComponents/components", Message: words})
		}
	}
	return r
}

// apply applies one message.
func (s *Surfaces) apply(u *update, raw ahp.Value) {
	if len(raw) > s.limits.MessageBytes {
		u.fail(CodeTooLarge, nil, fmt.Sprintf("the message has %d bytes, at most %d are allowed; send components in several messages, and data by path", len(raw), s.limits.MessageBytes))
		return
	}
	u.open(raw)
	if u.failure != nil {
		return
	}
	f := s.find(str(u.body, "surfaceId"))
	if f != nil && f.owner != u.owner {
		f = nil // others' surfaces are unknown
	}
	if u.key == "createSurface" {
		s.create(u)
		return
	}
	catalog := s.catalogs[0]
	if f != nil {
		catalog = f.catalog
	}
	if !s.valid(u, catalog) {
		return
	}
	switch {
	case f == nil && u.key == "deleteSurface":
	case f == nil:
		u.fail(CodeSurfaceNotFound, []string{u.key, "surfaceId"}, fmt.Sprintf("there is no surface %s; send createSurface first", quote(str(u.body, "surfaceId"))))
	case u.key == "deleteSurface":
		s.list = slices.DeleteFunc(s.list, func(o *surface) bool { return o == f })
	case u.key == "updateComponents":
		s.updateComponents(u, f)
	default:
		s.updateModel(u, f)
	}
}

// valid checks a message against the schemas and the limits of its parts.
func (s *Surfaces) valid(u *update, catalog *Catalog) bool {
	if f := catalog.validate(u.key, u.message); f != nil {
		u.fail(CodeValidationFailed, f.at, f.words)
		return false
	}
	if n := longest(u.body); n > s.limits.StringBytes {
		u.fail(CodeTooLarge, []string{u.key}, fmt.Sprintf("a string has %d bytes, at most %d are allowed", n, s.limits.StringBytes))
	} else if path := str(u.body, "path"); len(path) > s.limits.PointerBytes {
		u.fail(CodeTooLarge, []string{u.key, "path"}, fmt.Sprintf("the path has %d bytes, at most %d are allowed", len(path), s.limits.PointerBytes))
	}
	return u.failure == nil
}

// create creates a surface.
func (s *Surfaces) create(u *update) {
	catalog := s.catalogOf(u)
	if catalog == nil || !s.valid(u, catalog) {
		return
	}
	id := str(u.body, "surfaceId")
	switch {
	case s.find(id) != nil:
		u.fail(CodeSurfaceExists, []string{"createSurface", "surfaceId"}, fmt.Sprintf("the surface %s exists; update it, delete it first, or choose another id", quote(id)))
		return
	case len(s.list) >= s.limits.Surfaces:
		u.fail(CodeTooLarge, []string{"createSurface"}, fmt.Sprintf("there are %d surfaces, which is the limit; delete one first, or open another canvas", len(s.list)))
		return
	case len(id) > s.limits.PointerBytes:
		u.fail(CodeTooLarge, []string{"createSurface", "surfaceId"}, fmt.Sprintf("the surface id has %d bytes, at most %d are allowed", len(id), s.limits.PointerBytes))
		return
	}
	// An agent cannot pose as another one: the host knows its name.
	theme := object(u.body, "theme")
	if theme == nil {
		theme = map[string]any{}
	}
	delete(theme, "iconUrl")
	theme["agentDisplayName"] = u.owner
	u.body["theme"], u.body["catalogId"] = theme, catalog.id
	sync, _ := u.body["sendDataModel"].(bool)
	f := &surface{id: id, owner: u.owner, version: u.version, catalog: catalog, theme: encode(theme), sync: sync, components: map[string]kept{}}
	s.list = append(s.list, f)
	if words := s.fits(f); words != "" {
		s.list = s.list[:len(s.list)-1]
		u.fail(CodeTooLarge, []string{"createSurface"}, words)
	}
}

// catalogOf returns the catalog that a createSurface names.
func (s *Surfaces) catalogOf(u *update) *Catalog {
	id, ok := u.body["catalogId"].(string)
	if !ok {
		return s.catalogs[0] // its schema refuses the message
	}
	var known []string
	for _, c := range s.catalogs {
		if c.has(id) {
			if id != c.id {
				u.warning = fmt.Sprintf("the catalog %s is taken for %s", quote(id), c.id)
			}
			return c
		}
		known = append(known, c.id)
	}
	u.fail(CodeCatalogUnsupported, []string{"createSurface", "catalogId"}, fmt.Sprintf("the catalog %s is not supported here; use %s", quote(id), strings.Join(known, " or ")))
	return nil
}

// updateComponents adds or replaces components.
func (s *Surfaces) updateComponents(u *update, f *surface) {
	list, _ := u.body["components"].([]any)
	if bad := checkComponents(list, s.limits.PointerBytes); bad != nil {
		u.fail(CodeValidationFailed, append([]string{u.key, "components"}, bad.at...), bad.words)
		return
	}
	before := *f
	f.order, f.components = slices.Clone(f.order), make(map[string]kept, len(before.components)+len(list))
	maps.Copy(f.components, before.components)
	places := map[string]int{}
	var changed []string
	encoded := make([]any, len(list))
	for n, e := range list {
		m := object(e)
		id := str(m, "id")
		places[id], changed = n, append(changed, id)
		old, known := f.components[id]
		if !known {
			f.order = append(f.order, id)
		}
		k := kept{raw: encode(m), refs: f.catalog.children(m)}
		f.bytes += k.size() - old.size()
		f.components[id] = k
		encoded[n] = k.raw
	}
	if id, words := f.cycle(changed); words != "" {
		at := []string{u.key, "components"}
		if n, ok := places[id]; ok {
			at = append(at, itoa(n))
		}
		u.fail(CodeValidationFailed, at, "component "+quote(id)+" "+words)
	} else if words := s.fits(f); words != "" {
		u.fail(CodeTooLarge, []string{u.key}, words)
	}
	if u.failure != nil {
		*f = before
		return
	}
	u.body["components"] = encoded // so that the message is not encoded again
}

// updateModel changes a surface's data model.
func (s *Surfaces) updateModel(u *update, f *surface) {
	value, set := u.body["value"]
	tree, err := decodeModel(f.model)
	if err == nil {
		tree, err = change(tree, str(u.body, "path"), value, !set)
	}
	if err != nil {
		u.fail(CodeDataPath, []string{u.key, "path"}, err.Error())
		return
	}
	before := f.model
	if words := s.setModel(f, tree); words != nil {
		f.model = before
		u.fail(words.Code, []string{u.key, "value"}, words.Message)
	}
}

// decodeModel decodes a model; one that was never set is an empty object.
func decodeModel(model ahp.Value) (any, error) {
	if model == nil {
		return map[string]any{}, nil
	}
	return decode(model)
}

// setModel sets a surface's model if it fits.
func (s *Surfaces) setModel(f *surface, tree any) *Error {
	if depthOf(tree) > maxNesting {
		return Errorf(CodeValidationFailed, "the data model would be nested more than %d levels deep", maxNesting)
	}
	f.model = encode(tree)
	if words := s.fits(f); words != "" {
		return Errorf(CodeTooLarge, "%s", words)
	}
	if _, ok := s.cutModel(f); !ok {
		return Errorf(CodeTooLarge, "the data model cannot be sent in parts of %d bytes; use shorter strings and member names", s.limits.PartBytes)
	}
	return nil
}
