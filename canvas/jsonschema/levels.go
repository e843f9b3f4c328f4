package jsonschema

// The keywords whose values are schemas, lists of schemas, or objects of schemas by name.
// Under other keywords stands data, whose nesting does not count.
var (
	schemaKeywords = map[string]bool{
		"additionalItems": true, "additionalProperties": true, "allOf": true, "anyOf": true, "contains": true, "contentSchema": true,
		"else": true, "extends": true, "if": true, "items": true, "not": true, "oneOf": true, "prefixItems": true, "propertyNames": true,
		"then": true, "unevaluatedItems": true, "unevaluatedProperties": true,
	}
	namedSchemaKeywords = map[string]bool{
		"$defs": true, "definitions": true, "dependencies": true, "dependentSchemas": true, "patternProperties": true, "properties": true,
	}
)

// levels counts how many schemas stand inside each other in a schema, itself included. It
// stops beyond limit.
func levels(schema any, limit int) int {
	object, ok := schema.(map[string]any)
	if !ok {
		return 0
	}
	if limit <= 0 {
		return 1
	}
	deepest := 0
	under := func(v any) { deepest = max(deepest, levels(v, limit-1)) }
	for keyword, v := range object {
		switch {
		case schemaKeywords[keyword]:
			if list, ok := v.([]any); ok {
				for _, e := range list {
					under(e)
				}
			}
			under(v)
		case namedSchemaKeywords[keyword]:
			named, _ := v.(map[string]any)
			for _, e := range named {
				under(e)
			}
		}
	}
	return 1 + deepest
}
