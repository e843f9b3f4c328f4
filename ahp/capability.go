package ahp

import "slices"

// CapabilityCanvas is the name of the Canvas capability (#297 section 1).
const CapabilityCanvas = "canvas"

// ClientCapabilities is what initialize declares: presence flags. A member that
// is an object is supported, an absent one is not; unknown names are kept, so
// that a new capability needs no change here.
type ClientCapabilities map[string]Value

// Set returns the declared names, sorted. A member that is not an object is an
// InvalidParams error, null counts as absent.
func (c ClientCapabilities) Set() (Capabilities, error) {
	var names Capabilities
	for name, v := range c {
		switch v.Kind() {
		case '{':
			names = append(names, name)
		case 'n':
		default:
			return nil, Errorf(CodeInvalidParams, "/capabilities/%s: want an object, have %s", name, kindName(v.Kind(), "an object"))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Capabilities is a sorted set of capability names.
type Capabilities []string

// Has reports whether name was declared. The empty name is a capability that
// everybody has.
func (c Capabilities) Has(name string) bool {
	return name == "" || slices.Contains(c, name)
}
