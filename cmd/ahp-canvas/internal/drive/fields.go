package drive

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// inputFlags are the flags that give an input.
type inputFlags struct {
	text   string   // --input
	fields []string // --field, each key=value or key:=JSON
}

// flags adds --input and --field.
func (f *inputFlags) flags(cmd *cobra.Command) {
	inputFlag(cmd, &f.text)
	cmd.Flags().StringArrayVarP(&f.fields, "field", "f", nil, "one member of the input: `key=value`, or key:=JSON; it replaces that of --input (repeatable)")
}

// read reads --input and checks the form of the fields; nil without --input.
func (f inputFlags) read(stdin io.Reader) (ahp.Value, error) {
	for _, field := range f.fields {
		if key, _, ok := strings.Cut(field, "="); !ok || strings.TrimSuffix(key, ":") == "" {
			return nil, term.Usagef("--field %q: want key=value, or key:=JSON", field)
		}
	}
	return readInput(stdin, f.text)
}

// withFields returns an input with the fields in it. The schema says which of them are
// text; a field of which it says nothing is.
func (f inputFlags) withFields(input, schema ahp.Value) (ahp.Value, error) {
	object := map[string]ahp.Value{}
	if input != nil && ahp.Unmarshal(input, &object) != nil || object == nil {
		return nil, term.Usagef("--field sets a member of an object, but --input is %s", input)
	}
	types := memberTypes(schema)
	for _, field := range f.fields {
		key, text, _ := strings.Cut(field, "=")
		key, isJSON := strings.CutSuffix(key, ":")
		want := types[key]
		if !isJSON && (len(want) == 0 || slices.Contains(want, "string")) {
			object[key] = ahp.MustMarshal(text)
			continue
		}
		var v ahp.Value
		if err := ahp.Unmarshal([]byte(text), &v); err != nil {
			return nil, term.Usagef("--field %q: the value is not JSON%s", field, kinds(want))
		}
		object[key] = v
	}
	return ahp.MustMarshal(object), nil
}

func kinds(want []string) string {
	if len(want) == 0 {
		return ""
	}
	return ", and the canvas wants the type " + strings.Join(want, " or ")
}

// memberTypes returns the JSON types that a schema states for the members of an object.
// Other ways to restrict a member, such as references, are not followed.
func memberTypes(schema ahp.Value) map[string][]string {
	var object struct {
		Properties map[string]ahp.Value `json:"properties"`
	}
	types := map[string][]string{}
	if ahp.Unmarshal(schema, &object) != nil {
		return types
	}
	for key, value := range object.Properties {
		var one struct {
			Type string `json:"type"`
		}
		var several struct {
			Type []string `json:"type"`
		}
		if ahp.Unmarshal(value, &one) == nil && one.Type != "" {
			types[key] = []string{one.Type}
		} else if ahp.Unmarshal(value, &several) == nil {
			types[key] = several.Type
		}
	}
	return types
}
