package session

import (
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Customization is a plugin, a directory, a skill, an MCP server, or of a type that is
// unknown to this host. The host reads only the members that its reducers need. It keeps
// all other members, and members of the wrong type, unchanged.
type Customization struct {
	members map[string]ahp.Value
}

// customizationTypeMCP is the type whose state mcpServerStateChanged sets.
const customizationTypeMCP = "mcpServer"

// MarshalJSON encodes the members, sorted by name.
func (c Customization) MarshalJSON() ([]byte, error) { return ahp.Marshal(c.members) }

// UnmarshalJSON decodes any object.
func (c *Customization) UnmarshalJSON(data []byte) error {
	c.members = nil
	return ahp.Unmarshal(data, &c.members)
}

// ID returns the id, or "".
func (c Customization) ID() string { return c.text("id") }

func (c Customization) text(name string) string {
	var s string
	if v, ok := c.members[name]; !ok || ahp.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// with returns a copy with one member set; nil removes it.
func (c Customization) with(name string, v ahp.Value) Customization {
	m := maps.Clone(c.members)
	if m == nil {
		m = map[string]ahp.Value{}
	}
	if v == nil {
		delete(m, name)
	} else {
		m[name] = v
	}
	return Customization{m}
}

// children returns the customizations in a container.
func (c Customization) children() []Customization {
	var list []Customization
	if v, ok := c.members["children"]; !ok || ahp.Unmarshal(v, &list) != nil {
		return nil
	}
	return list
}

// editTop returns the list with fn applied to the top-level customization with an id,
// and whether there is one. If fn returns false, the customization is removed.
func editTop(list []Customization, id string, fn func(Customization) (Customization, bool)) ([]Customization, bool) {
	i := slices.IndexFunc(list, func(c Customization) bool { return c.ID() == id })
	if i < 0 {
		return list, false
	}
	edited, keep := fn(list[i])
	if !keep {
		return slices.Delete(slices.Clone(list), i, i+1), true
	}
	return replaceAt(list, i, edited), true
}

// editByID is like editTop, but if no top-level customization has the id, it edits every
// child with the id. Containers have one level, and an MCP server is not a container.
func editByID(list []Customization, id string, fn func(Customization) (Customization, bool)) []Customization {
	if edited, found := editTop(list, id, fn); found {
		return edited
	}
	for i, c := range list {
		if c.text("type") == customizationTypeMCP {
			continue
		}
		if edited, found := editTop(c.children(), id, fn); found {
			list = replaceAt(list, i, c.with("children", ahp.MustMarshal(edited)))
		}
	}
	return list
}

func replaceAt[T any](list []T, i int, v T) []T {
	list = slices.Clone(list)
	list[i] = v
	return list
}
