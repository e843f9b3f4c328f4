package actionsbridge

import (
	"maps"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

type rawDictionary struct {
	Host       ahp.Value   `json:"host,omitzero"`
	Primitives []ahp.Value `json:"primitives,omitzero"`
}

type rawPrimitive struct {
	Name    ahp.Value `json:"name,omitzero"`
	Support ahp.Value `json:"support,omitzero"`
	Reason  ahp.Value `json:"reason,omitzero"`
	Class   ahp.Value `json:"capability_class,omitzero"`
}

// dictionary reads primitive_dictionary; what cannot be read claims nothing.
func (r *reader) dictionary(v ahp.Value) {
	var d rawDictionary
	if absent(v) || v.Kind() != '{' || ahp.Unmarshal(v, &d) != nil {
		return
	}
	host, _ := textOf(d.Host)
	r.m.Host = cleanText(host, maxString)
	for _, raw := range d.Primitives[:min(len(d.Primitives), maxTools)] {
		if name, c, ok := primitive(raw); ok {
			r.m.capabilities[name] = c
		}
	}
}

// primitive reads a row of a dictionary.
func primitive(raw ahp.Value) (name string, c Capability, ok bool) {
	var p rawPrimitive
	if raw.Kind() != '{' || ahp.Unmarshal(raw, &p) != nil {
		return "", c, false
	}
	name, _ = textOf(p.Name)
	support, _ := textOf(p.Support)
	c.Support = supportOf(support)
	reason, _ := textOf(p.Reason)
	c.Reason = cleanText(reason, maxString)
	c.Class, _ = textOf(p.Class)
	return name, c, name != "" && len(name) <= maxString
}

// supportOf reads a word of a dictionary; an unknown one claims nothing, and so does
// none.
func supportOf(word string) string {
	if word == Unsupported || word == Partial {
		return word
	}
	return Supported
}

// Merged returns the manifest with a runtime's own capabilities over the dictionary's. They
// are an array of names or of rows as in a dictionary, or an object whose members are
// true, false, a word of support, or a row. What has another form is ignored.
func (m *Manifest) Merged(capabilities ahp.Value) *Manifest {
	own := readCapabilities(capabilities)
	if len(own) == 0 {
		return m
	}
	merged := &Manifest{}
	if m != nil {
		*merged = *m
	}
	merged.capabilities = map[string]Capability{}
	if m != nil {
		maps.Copy(merged.capabilities, m.capabilities)
	}
	for name, c := range own {
		if c.Class == "" {
			c.Class = merged.capabilities[name].Class // what is debugging stays it
		}
		merged.capabilities[name] = c
	}
	return merged
}

func readCapabilities(v ahp.Value) map[string]Capability {
	out := map[string]Capability{}
	var list []ahp.Value
	var object map[string]ahp.Value
	switch {
	case absent(v):
	case v.Kind() == '[' && ahp.Unmarshal(v, &list) == nil:
		for _, raw := range list[:min(len(list), maxTools)] {
			if name, ok := textOf(raw); ok && len(name) <= maxString {
				out[name] = Capability{Support: Supported}
			} else if name, c, ok := primitive(raw); ok {
				out[name] = c
			}
		}
	case v.Kind() == '{' && ahp.Unmarshal(v, &object) == nil && len(object) <= maxTools:
		for name, raw := range object {
			if c, ok := capability(raw); ok && len(name) <= maxString {
				out[name] = c
			}
		}
	}
	return out
}

// capability reads a member of an object of capabilities.
func capability(raw ahp.Value) (c Capability, ok bool) {
	switch raw.Kind() {
	case 't':
		return Capability{Support: Supported}, true
	case 'f':
		return Capability{Support: Unsupported}, true
	case '"':
		word, _ := textOf(raw)
		return Capability{Support: supportOf(word)}, true
	case '{':
		var p rawPrimitive
		if ahp.Unmarshal(raw, &p) != nil {
			return c, false
		}
		support, _ := textOf(p.Support)
		reason, _ := textOf(p.Reason)
		class, _ := textOf(p.Class)
		return Capability{supportOf(support), cleanText(reason, maxString), class}, true
	}
	return c, false
}

// Capabilities returns the names of the dictionary, with what it says about them.
func (m *Manifest) Capabilities() map[string]Capability {
	if m == nil {
		return nil
	}
	return maps.Clone(m.capabilities)
}
