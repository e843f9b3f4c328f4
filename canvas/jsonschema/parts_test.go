package jsonschema

import (
	"reflect"
	"slices"
	"testing"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// TestPartsInAreAll: a part that partsIn did not know would be looked at for nothing,
// however often. What is refused is none: a recursive reference.
func TestPartsInAreAll(t *testing.T) {
	part := reflect.TypeFor[*santhosh.Schema]()
	for _, field := range reflect.VisibleFields(part.Elem()) {
		s, inner := &santhosh.Schema{}, &santhosh.Schema{}
		into, is := reflect.ValueOf(s).Elem().FieldByIndex(field.Index), reflect.ValueOf(inner)
		switch {
		case !field.IsExported() || field.Name == "RecursiveRef":
			continue
		case field.Type == part:
			into.Set(is)
		case field.Type.Kind() == reflect.Slice && field.Type.Elem() == part:
			into.Set(reflect.Append(into, is))
		case field.Type.Kind() == reflect.Map && field.Type.Elem() == part:
			into.Set(reflect.MakeMap(field.Type))
			into.SetMapIndex(reflect.Zero(field.Type.Key()), is)
		default:
			continue
		}
		if !slices.Contains(partsIn(s), inner) {
			t.Errorf("%s is not among the parts", field.Name)
		}
	}
}
