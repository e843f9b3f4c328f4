package ahp

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
)

// Action is the payload of an action without its type tag: a struct of this
// module that exactly one [ActionTable] lists.
type Action interface {
	// ActionType returns the type tag. It works on the zero value.
	ActionType() string
}

// Validator is implemented by params and actions that have rules beyond their
// JSON shape.
type Validator interface {
	// Validate returns the rule that is broken, or nil. The decoder calls it and
	// sends the text to the other side.
	Validate() error
}

// Senders is the set of roles that may dispatch an action type.
type Senders uint8

// The roles of a dispatch.
const (
	FromHost     Senders = 1 << iota // the host; its actions have no origin
	FromClient                       // any client
	FromProvider                     // the connection that provides the canvas instance
)

// Retention is the replay buffer that keeps the envelopes of a type.
type Retention uint8

// The replay buffers.
const (
	// RetainState is the buffer of actions that change state.
	RetainState Retention = iota
	// RetainMessage is the buffer of broadcast messages, which is bounded on its own.
	RetainMessage
)

// ActionRow is one row of an action table: what the host knows about an action
// type, as data.
type ActionRow struct {
	// Type is the type tag.
	Type string
	// GoType is the payload struct, without the type tag.
	GoType reflect.Type
	// From is who may dispatch the type.
	From Senders
	// Since is the version that introduced the type. Connections with an older
	// version do not receive it.
	Since Version
	// Capability, if not empty, replaces Since: exactly the connections that
	// declared the capability receive the type.
	Capability string
	// Retain is the buffer that keeps envelopes of the type for replay.
	Retain Retention
	// Alias marks an older spelling, which is accepted but never sent.
	Alias bool

	decode func(Value) (Action, error)
}

// RowOption sets a field of a row.
type RowOption func(*ActionRow)

// Since sets the version that introduced a type. The default is 0.5.0.
func Since(v Version) RowOption { return func(r *ActionRow) { r.Since = v } }

// Gated restricts a type to connections that declared the capability.
func Gated(capability string) RowOption { return func(r *ActionRow) { r.Capability = capability } }

// AsMessage keeps envelopes of the type in the buffer of broadcast messages.
func AsMessage() RowOption { return func(r *ActionRow) { r.Retain = RetainMessage } }

// Row declares the action type whose payload struct is A.
func Row[A Action](from Senders, opts ...RowOption) *ActionRow {
	var zero A
	return newRow(zero.ActionType(), reflect.TypeFor[A](), from, decodeAs[A], opts)
}

// AliasRow declares an older spelling. convert turns it into the action that
// replaced it.
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

// ActionTable has the action types of one channel kind.
type ActionTable struct {
	rows   []*ActionRow
	byType map[string]*ActionRow
}

// NewActionTable makes a table. It panics if two rows have the same type.
func NewActionTable(rows ...*ActionRow) *ActionTable {
	t := &ActionTable{rows: rows, byType: make(map[string]*ActionRow, len(rows))}
	for _, r := range rows {
		if t.byType[r.Type] != nil {
			panic(fmt.Sprintf("ahp: two rows for action %q", r.Type))
		}
		t.byType[r.Type] = r
	}
	return t
}

// Rows returns the rows in the order in which they were declared.
func (t *ActionTable) Rows() []*ActionRow { return slices.Clone(t.rows) }

// Row returns the row of a type tag, or nil.
func (t *ActionTable) Row(tag string) *ActionRow { return t.byType[tag] }

// EncodedAction is an action with its encoding.
type EncodedAction struct {
	// Action is nil if the action could not be decoded and was rejected.
	Action Action
	// Row is the action's row. It is nil if the type is unknown.
	Row *ActionRow
	// Raw is the encoding. For a client's action it is what the client sent,
	// unknown members included, without nulls that mean absence ([WithoutNulls]). It is nil for a host's action that has not been
	// encoded yet.
	Raw Value
}

// Encode pairs a host's action with its row. The action is encoded later, by
// [EncodedAction.Bytes] or [EncodedAction.Append].
func (t *ActionTable) Encode(a Action) (EncodedAction, error) {
	row := t.byType[a.ActionType()]
	if row == nil || row.Alias {
		return EncodedAction{}, fmt.Errorf("this channel has no action %q", a.ActionType())
	}
	return EncodedAction{Action: a, Row: row}, nil
}

// Decode decodes an action by its type tag. The error is a sentence that is sent
// as the rejection's reason. An alias decodes to the action that replaced it, and
// Raw is dropped.
func (t *ActionTable) Decode(raw Value) (EncodedAction, error) {
	row := t.byType[leadingTag(raw)]
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
	return EncodedAction{Action: a, Row: row, Raw: WithoutNulls(raw, row.GoType)}, nil
}

// Encoded is an action that is made of JSON that was encoded before, and so
// encodes itself without the encoder.
type Encoded interface {
	Action
	// EncodedSize estimates how many bytes AppendEncoded appends.
	EncodedSize() int
	// AppendEncoded appends the action, type tag included, exactly as [Marshal]
	// would write it.
	AppendEncoded(b []byte) []byte
}

// Size estimates how many bytes [EncodedAction.Append] appends.
func (e *EncodedAction) Size() int {
	if a, ok := e.Action.(Encoded); ok && e.Raw == nil {
		return a.EncodedSize()
	}
	e.Raw = e.Bytes()
	return len(e.Raw)
}

// Append appends the action as Bytes returns it.
func (e *EncodedAction) Append(b []byte) []byte {
	if a, ok := e.Action.(Encoded); ok && e.Raw == nil {
		return a.AppendEncoded(b)
	}
	return append(b, e.Bytes()...)
}

// Bytes returns the action in its wire form, with the type tag first.
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

// ActionTag returns the type member of an action.
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

// leadingTag returns the type member if it comes first, without white space, or
// "". It saves Decode a pass over the action. The rest of the text is not checked:
// decoding the row's type does that. A tag with an escape is in no table.
func leadingTag(raw Value) string {
	rest, ok := bytes.CutPrefix(raw, []byte(`{"type":"`))
	tag, _, ends := bytes.Cut(rest[:min(len(rest), 64)], []byte{'"'})
	if !ok || !ends {
		return ""
	}
	return string(tag)
}
