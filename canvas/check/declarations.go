package check

import (
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
)

// Declared is a declaration whose schemas are compiled.
type Declared struct {
	canvas.Declaration
	Input       *jsonschema.Schema            // of the open's input; nil accepts any object
	ActionInput map[string]*jsonschema.Schema // of each declared action, by name
}

// Unchecked returns the first schema that the host cannot enforce, as a *canvas.Error, or
// nil.
func (d *Declared) Unchecked() error {
	if why := d.Input.Unchecked(); why != nil {
		return canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: its input schema %v", d.CanvasID, why)
	}
	for _, a := range d.Actions {
		if why := d.ActionInput[a.Name].Unchecked(); why != nil {
			return canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: action %q: its input schema %v", d.CanvasID, a.Name, why)
		}
	}
	return nil
}

// partial reports whether a pattern of a schema is not enforced.
func (d *Declared) partial() bool {
	if d.Input.Partial() != nil {
		return true
	}
	for _, schema := range d.ActionInput {
		if schema.Partial() != nil {
			return true
		}
	}
	return false
}

// Declarations checks a set of declarations as a whole and compiles their schemas:
// one bad declaration rejects the set. Its errors are *canvas.Error.
func (l *Limits) Declarations(set []canvas.Declaration) ([]*Declared, error) {
	if len(set) > l.Canvases {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%d canvases were declared, at most %d are allowed", len(set), l.Canvases)
	}
	out := make([]*Declared, 0, len(set))
	seen := map[string]bool{}
	schemas := jsonschema.Set{Memory: l.Schemas}
	for _, d := range set {
		if d.CanvasID == "" || len(d.CanvasID) > canvas.MaxName || seen[d.CanvasID] {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "canvas id %q: want 1 to %d bytes, and each id once", d.CanvasID, canvas.MaxName)
		}
		seen[d.CanvasID] = true
		if d.DisplayName == "" {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "canvas %q has no displayName", d.CanvasID)
		}
		if err := l.Text("displayName", &d.DisplayName); err != nil {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: its %v", d.CanvasID, err)
		}
		if _, err := ahp.Marshal(d); err != nil {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "canvas %q cannot be written as JSON: %v", d.CanvasID, err)
		}
		dd, err := l.declare(d, &schemas)
		if err != nil {
			return nil, err
		}
		out = append(out, dd)
	}
	return out, nil
}

func (l *Limits) declare(d canvas.Declaration, schemas *jsonschema.Set) (*Declared, error) {
	if err := l.texts(&d); err != nil {
		return nil, err
	}
	if len(d.Actions) > l.Actions {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "canvas %q declares %d actions, at most %d are allowed", d.CanvasID, len(d.Actions), l.Actions)
	}
	d.InputSchema = orAbsent(d.InputSchema)
	input, err := schemas.Compile(d.InputSchema, l.schema())
	if err != nil {
		return nil, canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: its input schema %v", d.CanvasID, err)
	}
	dd := &Declared{Declaration: d, Input: input, ActionInput: make(map[string]*jsonschema.Schema, len(d.Actions))}
	dd.Actions = slices.Clone(d.Actions)
	for n := range dd.Actions {
		a := &dd.Actions[n]
		a.InputSchema = orAbsent(a.InputSchema)
		if strings.HasPrefix(a.Name, "canvas.") {
			return nil, canvas.Errorf(canvas.CodeReservedActionName, "canvas %q: action %q: names that begin with \"canvas.\" are reserved", d.CanvasID, a.Name)
		}
		if _, twice := dd.ActionInput[a.Name]; twice || a.Name == "" || len(a.Name) > canvas.MaxName {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: action %q: want 1 to %d bytes, and each name once", d.CanvasID, a.Name, canvas.MaxName)
		}
		if dd.ActionInput[a.Name], err = schemas.Compile(a.InputSchema, l.schema()); err != nil {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: action %q: its input schema %v", d.CanvasID, a.Name, err)
		}
	}
	checked := ""
	switch {
	case dd.Unchecked() != nil:
		checked = "unchecked"
	case dd.partial():
		checked = "partial"
	}
	dd.Extra = registryMembers(d.Extra, checked)
	return dd, nil
}

// maxDescription limits the description of a canvas or an action, in bytes. An agent
// reads all of them.
const maxDescription = 16 << 10

// texts checks the sizes of a declaration's texts and unknown members.
func (l *Limits) texts(d *canvas.Declaration) error {
	if n := len(d.Description); n > maxDescription {
		return canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: its description has %d bytes, at most %d are allowed", d.CanvasID, n, maxDescription)
	}
	if n := len(d.Extra); n > l.SchemaBytes {
		return canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: its other members have %d bytes, at most %d are allowed", d.CanvasID, n, l.SchemaBytes)
	}
	for _, a := range d.Actions {
		if n := len(a.Description); n > maxDescription {
			return canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: the description of action %q has %d bytes, at most %d are allowed", d.CanvasID, a.Name, n, maxDescription)
		}
		if n := len(a.Extra); n > l.SchemaBytes {
			return canvas.Errorf(canvas.CodeInputInvalid, "canvas %q: the other members of action %q have %d bytes, at most %d are allowed", d.CanvasID, a.Name, n, l.SchemaBytes)
		}
	}
	return nil
}

// orAbsent returns a schema, nil for null: null is absence.
func orAbsent(schema ahp.Value) ahp.Value {
	if schema.IsValid() && schema.Kind() == 'n' {
		return nil
	}
	return schema
}

// schemaMeta is the member of a declaration's _meta that says whether the host checks
// inputs (canvas/PROTOCOL.md section 8.2): "unchecked", or "partial" if a pattern is not enforced.
const schemaMeta = "x-ahp-canvas/schema"

// registryMembers returns a declaration's unknown members as the registry has them: a
// provider cannot set those that the registry adds itself (canvas/PROTOCOL.md section
// 2). checked is the value of schemaMeta, or "". The members of a declaration that needs no change are returned as they came.
func registryMembers(extra ahp.Value, checked string) ahp.Value {
	members, meta := map[string]ahp.Value{}, map[string]ahp.Value{}
	if len(extra) > 0 && ahp.Unmarshal(extra, &members) != nil {
		return nil
	}
	changed := checked != ""
	drop := func(from map[string]ahp.Value, name string) {
		_, present := from[name]
		delete(from, name)
		changed = changed || present
	}
	for _, name := range []string{"extensionId", "extensionName", "source"} {
		drop(members, name)
	}
	if ahp.Unmarshal(members["_meta"], &meta) != nil || meta == nil {
		meta = map[string]ahp.Value{}
	}
	drop(meta, schemaMeta)
	if !changed {
		return extra
	}
	if checked != "" {
		meta[schemaMeta] = ahp.MustMarshal(checked)
	}
	if delete(members, "_meta"); len(meta) > 0 {
		members["_meta"] = ahp.MustMarshal(meta)
	}
	if len(members) == 0 {
		return nil
	}
	return ahp.MustMarshal(members)
}
