package ahp

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
)

// Action is the payload of an action without its type tag: a struct of this
// module, registered in exactly one [ActionTable].
type Action interface{ ActionType() string }

// Validator is implemented by params and actions that have rules beyond their
// JSON shape. The decoder calls it; its error becomes the refusal's text.
type Validator interface{ Validate() error }

// Senders is the set of roles that may dispatch an action type.
type Senders uint8

// The roles. Host actions carry no origin; a provider is the connection that
// owns the canvas instance.
const (
	FromHost Senders = 1 << iota
	FromClient
	FromProvider
)

// Retention says which replay buffer keeps the envelopes of a type.
type Retention uint8

const (
	// RetainState keeps them with everything that changes state.
	RetainState Retention = iota
	// RetainMessage keeps them in the ring of broadcast messages.
	RetainMessage
)

// ActionRow is one row of an action table: everything that the host knows about
// an action type, as data.
type ActionRow struct {
	Type       string
	GoType     reflect.Type // the payload struct, without the type tag
	From       Senders
	Since      Version
	Capability string // a connection without it never sees the type; with it, Since does not hide it
	Retain     Retention
	Alias      bool // accepted on input only; decodes to another row's action

	decode func(Value) (Action, error)
}

// RowOption refines a row.
type RowOption func(*ActionRow)

// Since sets the version that introduced a type; the default is 0.5.0.
func Since(v Version) RowOption { return func(r *ActionRow) { r.Since = v } }

// Gated makes a type visible only to connections that declared the capability.
func Gated(capability string) RowOption { return func(r *ActionRow) { r.Capability = capability } }

// AsMessage keeps envelopes of the type in the message ring.
func AsMessage() RowOption { return func(r *ActionRow) { r.Retain = RetainMessage } }

// Row declares an action type by its payload struct.
func Row[A Action](from Senders, opts ...RowOption) *ActionRow {
	var zero A
	return newRow(zero.ActionType(), reflect.TypeFor[A](), from, decodeAs[A], opts)
}

// AliasRow declares an older spelling that is accepted on input and turned into
// the action that replaced it.
func AliasRow[A any](tag string, from Senders, convert func(A) (Action, error), opts ...RowOption) *ActionRow {
	row := newRow(tag, reflect.TypeFor[A](), from, func(raw Value) (Action, error) {
		var a A
		if err := Unmarshal(raw, &a); err != nil {
			return nil, err
		}
		return convert(a)
	}, opts)
	row.Alias = true
	return row
}

func newRow(tag string, t reflect.Type, from Senders, decode func(Value) (Action, error), opts []RowOption) *ActionRow {
	r := &ActionRow{Type: tag, GoType: t, From: from, Since: V0_5_0, decode: decode}
	for _, opt := range opts {
		opt(r)
	}
	return r
}

func decodeAs[A Action](raw Value) (Action, error) {
	var a A
	if err := Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	if v, ok := any(a).(Validator); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// ActionTable holds the rows of one channel kind.
type ActionTable struct {
	rows   []*ActionRow
	byType map[string]*ActionRow
}

// NewActionTable makes a table; a type that stands twice panics.
func NewActionTable(rows ...*ActionRow) *ActionTable {
	t := &ActionTable{rows: rows, byType: make(map[string]*ActionRow, len(rows))}
	for _, r := range rows {
		if t.byType[r.Type] != nil {
			panic("ahp: two rows for action " + r.Type)
		}
		t.byType[r.Type] = r
	}
	return t
}

// Rows returns the rows in the order in which they were declared.
func (t *ActionTable) Rows() []*ActionRow { return slices.Clone(t.rows) }

// Row returns the row of a type, or nil.
func (t *ActionTable) Row(tag string) *ActionRow { return t.byType[tag] }

// EncodedAction is an action with its bytes, so that it is encoded once: for a
// client's action they are the bytes that came in, unknown members included.
type EncodedAction struct {
	Action Action // nil for an action that could not be read (a refusal)
	Row    *ActionRow
	Raw    Value
}

// Encode pairs a host's action with its row and leaves the bytes to
// [EncodedAction.Bytes].
func (t *ActionTable) Encode(a Action) (EncodedAction, error) {
	row := t.byType[a.ActionType()]
	if row == nil || row.Alias {
		return EncodedAction{}, fmt.Errorf("action %s is not of this channel", a.ActionType())
	}
	return EncodedAction{Action: a, Row: row}, nil
}

// Decode reads an action by its type tag. The error is a sentence for the
// person who reads the refusal. An alias decodes to the newer action, whose
// bytes then replace the ones that came in.
func (t *ActionTable) Decode(raw Value) (EncodedAction, error) {
	row := t.byType[firstTag(raw)]
	if row == nil {
		tag, err := ActionTag(raw)
		if err != nil {
			return EncodedAction{Raw: raw}, err
		}
		if row = t.byType[tag]; row == nil {
			return EncodedAction{Raw: raw}, fmt.Errorf("unknown action type %q", tag)
		}
	}
	a, err := row.decode(raw)
	if err != nil {
		return EncodedAction{Row: row, Raw: raw}, fmt.Errorf("%s: %w", row.Type, err)
	}
	if row.Alias {
		return t.Encode(a)
	}
	return EncodedAction{Action: a, Row: row, Raw: raw}, nil
}

// Encoded is an action whose parts were encoded already: it appends them, and what
// stands around them, and nobody looks at them again.
type Encoded interface {
	Action
	// EncodedSize is about how many bytes AppendEncoded appends.
	EncodedSize() int
	// AppendEncoded appends the action as it goes over the wire, exactly as
	// [Marshal] would write it.
	AppendEncoded(b []byte) []byte
}

// Size is how much room [EncodedAction.Append] needs, and Append appends the
// action as it goes over the wire.
func (e *EncodedAction) Size() int {
	if a, ok := e.Action.(Encoded); ok && e.Raw == nil {
		return a.EncodedSize()
	}
	e.Raw = e.Bytes()
	return len(e.Raw)
}

// Append appends what Bytes returns.
func (e *EncodedAction) Append(b []byte) []byte {
	if a, ok := e.Action.(Encoded); ok && e.Raw == nil {
		return a.AppendEncoded(b)
	}
	return append(b, e.Bytes()...)
}

// Bytes returns the action as it goes over the wire, type tag first.
func (e *EncodedAction) Bytes() Value {
	if e.Raw != nil {
		return e.Raw
	}
	if a, ok := e.Action.(Encoded); ok {
		return a.AppendEncoded(make(Value, 0, a.EncodedSize()))
	}
	body := MustMarshal(e.Action)
	raw := make(Value, 0, len(body)+len(e.Row.Type)+12)
	raw = append(raw, `{"type":"`...)
	raw = append(raw, e.Row.Type...)
	raw = append(raw, '"')
	if rest := bytes.TrimPrefix(body, []byte("{")); len(rest) > 1 {
		raw = append(raw, ',')
		raw = append(raw, rest...)
	} else {
		raw = append(raw, '}')
	}
	return raw
}

// ActionTag reads the type member of an action.
func ActionTag(raw Value) (string, error) {
	var tag struct {
		Type string `json:"type"`
	}
	if err := Unmarshal(raw, &tag); err != nil {
		return "", fmt.Errorf("action: %w", err)
	}
	if tag.Type == "" {
		return "", fmt.Errorf("action: /type: must not be empty")
	}
	return tag.Type, nil
}

// firstTag is the type where that comes first and in the plainest spelling, or ""; a
// name with an escape is nobody's. It does not look at what follows: whoever finds the
// type in a table decodes the action, and sees there what is wrong with it.
func firstTag(raw Value) string {
	rest, ok := bytes.CutPrefix(raw, []byte(`{"type":"`))
	tag, _, ends := bytes.Cut(rest[:min(len(rest), 64)], []byte{'"'})
	if !ok || !ends {
		return ""
	}
	return string(tag)
}
