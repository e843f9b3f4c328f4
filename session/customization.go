package session

import (
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Customization is a plugin, a directory, a skill, an MCP server, or a type that
// this host has never heard of. The host reads only what its reducers need; all
// other members, and members of the wrong type, are kept as they came.
type Customization struct {
	members map[string]ahp.Value
}

// customizationTypeMCP is the type whose state mcpServerStateChanged sets.
const customizationTypeMCP = "mcpServer"

// MarshalJSON writes the members, sorted by name.
func (c Customization) MarshalJSON() ([]byte, error) { return ahp.Marshal(c.members) }

// UnmarshalJSON reads any object.
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

// children returns the customizations that a container holds.
func (c Customization) children() []Customization {
	var list []Customization
	if v, ok := c.members["children"]; !ok || ahp.Unmarshal(v, &list) != nil {
		return nil
	}
	return list
}

// editByID returns the list with fn applied to the customization of an id, at
// the top or among the children; fn's false removes it. The same list comes
// back where nothing has the id.
func editByID(list []Customization, id string, fn func(Customization) (Customization, bool)) []Customization {
	for i, c := range list {
		if c.ID() == id {
			edited, keep := fn(c)
			if !keep {
				return slices.Delete(slices.Clone(list), i, i+1)
			}
			return replaceAt(list, i, edited)
		}
		children := c.children()
		if edited := editByID(children, id, fn); !same(edited, children) {
			return replaceAt(list, i, c.with("children", ahp.MustMarshal(edited)))
		}
	}
	return list
}

// same reports whether two lists are the same one: editByID shares what it did
// not change.
func same(a, b []Customization) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func replaceAt[T any](list []T, i int, v T) []T {
	list = slices.Clone(list)
	list[i] = v
	return list
}
