package ahp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Field is an optional member of which absent, null and a value are three
// different things, as in canvas/updated: absent keeps, null clears, a value
// sets. The zero Field is absent. Tag it `json:"name,omitzero"`.
type Field[T any] struct {
	// Present says that the member is on the wire at all.
	Present bool
	// Value is nil where the member is null (or absent).
	Value *T
}

// Set is a Field that carries v.
func Set[T any](v T) Field[T] { return Field[T]{Present: true, Value: &v} }

// Clear is a Field that is null.
func Clear[T any]() Field[T] { return Field[T]{Present: true} }

// IsZero reports that the member is absent; the encoder's omitzero asks it.
func (f Field[T]) IsZero() bool { return !f.Present }

// Or returns what an optional state member becomes under this field: old where
// the field is absent, nil where it is null, its value otherwise.
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

// UnmarshalJSONFrom reads a value or null; that it is called at all means that
// the member is present.
func (f *Field[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	f.Present, f.Value = true, nil
	if dec.PeekKind() == 'n' {
		_, err := dec.ReadToken()
		return err
	}
	f.Value = new(T)
	return json.UnmarshalDecode(dec, f.Value)
}
