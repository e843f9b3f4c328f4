package ahp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Field is an optional member for which absent, null and a value mean different
// things. In canvas/updated, for example, absent keeps, null clears and a value
// sets. The zero Field is absent. Its tag must be `json:"name,omitzero"`.
type Field[T any] struct {
	// Present reports that the member is not absent.
	Present bool
	// Value is nil if the member is null or absent.
	Value *T
}

// Set returns a Field with the value v.
func Set[T any](v T) Field[T] { return Field[T]{Present: true, Value: &v} }

// Clear returns a Field that is null.
func Clear[T any]() Field[T] { return Field[T]{Present: true} }

// IsZero reports that the member is absent. The encoder's omitzero uses it.
func (f Field[T]) IsZero() bool { return !f.Present }

// Or applies the field to an optional state member. It returns old if the field is
// absent, and otherwise the field's value, which is nil for null.
func (f Field[T]) Or(old *T) *T {
	if !f.Present {
		return old
	}
	return f.Value
}

// MarshalJSONTo writes the value, or null.
func (f Field[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if f.Value == nil {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, *f.Value)
}

// UnmarshalJSONFrom reads a value or null. The decoder calls it only for a member
// that is present.
func (f *Field[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	f.Present, f.Value = true, nil
	if dec.PeekKind() == 'n' {
		_, err := dec.ReadToken()
		return err
	}
	f.Value = new(T)
	return json.UnmarshalDecode(dec, f.Value)
}
