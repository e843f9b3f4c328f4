package aap

// ParseRegistry is parseRegistry for its fuzz target.
func ParseRegistry(raw []byte, root string) []Agent {
	list, _ := parseRegistry(raw, root)
	return list
}
