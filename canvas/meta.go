package canvas

import (
	"maps"
	"math"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The members of a state's _meta that change while the instance is open (canvas/PROTOCOL.md
// section 4.9). Each is absent if it does not apply.
const (
	// MetaClosing is a [Closing]: a person closed the canvas and can still undo it.
	MetaClosing = "x-ahp-canvas/closing"
	// MetaAttention is an [Attention]: the canvas waits for a person.
	MetaAttention = "x-ahp-canvas/attention"
	// MetaProgress is a [Progress]: how far work in the canvas is.
	MetaProgress = "x-ahp-canvas/progress"
	// MetaCopy is a [Copy]: what people can save of the canvas.
	MetaCopy = "x-ahp-canvas/copy"
)

// Closing says that a canvas will close unless the close is undone.
type Closing struct {
	ClientID string `json:"clientId"` // that asked, and can undo it
	Until    string `json:"until"`    // RFC 3339, UTC: when the canvas closes
	Seconds  int    `json:"seconds"`  // the whole time for an undo, rounded up
}

// Attention says why a canvas waits for a person.
type Attention struct {
	Reason string `json:"reason"` // one line, for people
	Since  string `json:"since"`  // RFC 3339, UTC
}

// Progress says how far work in a canvas is.
type Progress struct {
	Done  float64 `json:"done"`           // of Total, in any unit
	Total float64 `json:"total,omitzero"` // 0 if it is not known
	Text  string  `json:"text,omitzero"`  // one line, for people
}

// Copy is a file that people can save of a canvas.
type Copy struct {
	Name string `json:"name"` // of the file
	Path string `json:"path"` // of the content, which the provider makes when it is read
}

// Announced returns what the host takes of the _meta of an update of a client provider, nil
// if there is nothing: [MetaAttention], whose time the host sets, [MetaProgress] and
// [MetaCopy], within their limits.
func Announced(st CanvasState, meta ahp.Value, now time.Time) ahp.Value {
	taken := map[string]any{}
	for name, raw := range metaMembers(meta) {
		take := announced[name]
		if take == nil {
			continue
		}
		if value, ok := take(st, raw, now); ok {
			taken[name] = value
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return ahp.MustMarshal(taken)
}

// announced are the members that a provider announces. A function returns the value to set,
// nil to remove the member, and whether the given value is valid.
var announced = map[string]func(st CanvasState, raw ahp.Value, now time.Time) (any, bool){
	MetaAttention: func(st CanvasState, raw ahp.Value, now time.Time) (any, bool) {
		var before Attention
		var given struct {
			Reason string `json:"reason,omitzero"`
		}
		ok := raw.Kind() == 'n' || ahp.Unmarshal(raw, &given) == nil
		a := Attention{ahp.Line(given.Reason, MaxReason), now.UTC().Format(time.RFC3339)}
		if a.Reason == "" {
			return nil, ok
		}
		if ahp.Unmarshal(metaMember(st.Meta, MetaAttention), &before) == nil && before.Reason == a.Reason {
			a.Since = before.Since
		}
		return a, ok
	},
	MetaProgress: func(_ CanvasState, raw ahp.Value, _ time.Time) (any, bool) {
		var p Progress
		ok := raw.Kind() == 'n' || ahp.Unmarshal(raw, &p) == nil && p.valid()
		return p.shown(), ok
	},
	MetaCopy: func(st CanvasState, raw ahp.Value, _ time.Time) (any, bool) {
		var c Copy
		ok := raw.Kind() == 'n' || ahp.Unmarshal(raw, &c) == nil
		if c.Name = ahp.Line(c.Name, MaxCopyName); c.Name == "" {
			return nil, ok
		}
		_, _, err := ParseContentURI(ContentURL(st.InstanceID, c.Path))
		return c, ok && err == nil
	},
}

func (p Progress) valid() bool {
	return p.Done >= 0 && p.Total >= 0 && !math.IsInf(p.Done, 0) && !math.IsInf(p.Total, 0)
}

// shown returns p with its text within its limit, nil once the work is done.
func (p Progress) shown() any {
	p.Text = ahp.Line(p.Text, MaxReason)
	if p.Total > 0 && p.Done >= p.Total || p == (Progress{}) {
		return nil
	}
	return p
}

// metaChange returns the _meta of an [Updated] that sets one member, or removes it if the
// value is nil.
func metaChange(name string, value any) ahp.Value {
	return ahp.MustMarshal(map[string]any{name: value})
}

// SetMeta returns the update that sets a member of a state's _meta; a nil value removes it.
func SetMeta(name string, value any) Updated { return Updated{Meta: metaChange(name, value)} }

// mergeMeta returns before with the members of change: null removes one. Anything that is
// not an object changes nothing.
func mergeMeta(before, change ahp.Value) ahp.Value {
	members, changed := metaMembers(before), metaMembers(change)
	if len(changed) == 0 {
		return before
	}
	after := maps.Clone(members)
	if after == nil {
		after = map[string]ahp.Value{}
	}
	for name, value := range changed {
		if value.Kind() == 'n' {
			delete(after, name)
		} else {
			after[name] = value
		}
	}
	if len(after) == 0 {
		return nil
	}
	return ahp.MustMarshal(after)
}

func metaMembers(meta ahp.Value) map[string]ahp.Value {
	var members map[string]ahp.Value
	if meta.Kind() != '{' || ahp.Unmarshal(meta, &members) != nil {
		return nil
	}
	return members
}

// metaMember returns a member of a _meta; nil if there is none.
func metaMember(meta ahp.Value, name string) ahp.Value { return metaMembers(meta)[name] }

// AnswersSockets reports whether the provider of an open canvas answers ws/1
// ([Opened.Sockets]).
func AnswersSockets(st CanvasState) bool {
	return string(metaMember(st.Meta, "x-ahp-canvas/ws")) == "1"
}
