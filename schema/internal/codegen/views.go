package codegen

// views are the definitions by name, for languages whose types are views of JSON objects.
type views struct {
	byName map[string]definition
	unions map[string][]string // by definition: the unions that it belongs to
}

func newViews(m *model) views {
	v := views{map[string]definition{}, map[string][]string{}}
	for _, d := range m.defs {
		v.byName[d.name] = d
		for _, part := range d.variants {
			v.unions[part.name] = append(v.unions[part.name], d.name)
		}
	}
	return v
}

func (v views) isUnion(name string) bool { return v.byName[name].union != "" }

// resolved replaces another name of a type by the type.
func (v views) resolved(t typ) typ {
	for t.kind == ref && v.byName[t.name].alias != nil {
		t = *v.byName[t.name].alias
	}
	return t
}
