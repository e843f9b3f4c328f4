package schema

import (
	"github.com/invopop/jsonschema"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// rule refines a definition or a member.
type rule func(*node)

var limits = canvas.DefaultLimits()

// rules are the checks of the host beyond the types (Validate, Limits, and
// comments of members), by definition and member. JSON Schema counts code
// points and the host bytes, so a length limit here is necessary but not
// sufficient. A rule that matches nothing is an error.
var rules = map[string]rule{
	"ClientCapabilities": knownCapabilities,

	"InitializeParams.clientId":         length(1, ahp.MaxClientID),
	"InitializeParams.protocolVersions": each(length(1, 0), 1, 0),
	"ReconnectParams.clientId":          length(1, 0),

	"ReconnectResult.type":         tags(ahp.ReconnectReplay, ahp.ReconnectSnapshot),
	"ResourceReadResult.encoding":  tags(ahp.EncodingUTF8, ahp.EncodingBase64),
	"CreateSessionParams.channel":  all(uri(ahp.SchemeSession, "ahp-session:/new"), length(0, ahp.MaxURI)),
	"SessionActiveClient.clientId": length(1, 0),
	"OpenCanvasRef.channel":        uri(ahp.SchemeCanvas, "ahp-canvas:/plan"),
	"CanvasOpenParams.instanceId":  pattern(canvas.InstanceIDPattern(), "plan"),
	"OpenCanvasRef.instanceId":     pattern(canvas.InstanceIDPattern(), "plan"),
	"CanvasState.instanceId":       pattern(canvas.InstanceIDPattern(), "plan"),
	"CanvasCloseParams.instanceId": pattern(canvas.InstanceIDPattern(), "plan"),
	"CanvasState.title":            length(0, limits.TextLength),
	"CanvasState.status":           length(0, limits.TextLength),
	"CanvasUpdatedAction.title":    first(length(0, limits.TextLength)),
	"CanvasUpdatedAction.status":   first(length(0, limits.TextLength)),

	// Exactly one of text and blob.
	"CanvasResourceContent": func(s *node) {
		s.If = object("", "text", &node{})
		s.Then = object("", "blob?", jsonschema.FalseSchema)
		s.Else = object("", "blob", &node{})
	},

	"SessionActiveClientRemovedAction.clientId":     length(1, 0),
	"SessionActiveClientChangedAction.activeClient": func(s *node) { *s = *nullable(ref("SessionActiveClient")) },
}

func all(rules ...rule) rule {
	return func(s *node) {
		for _, r := range rules {
			r(s)
		}
	}
}

// length limits a string; 0 is no limit.
func length(shortest, longest int) rule {
	return func(s *node) { s.MinLength, s.MaxLength = bound(shortest), bound(longest) }
}

// each limits an array and refines its elements.
func each(r rule, fewest, most int) rule {
	return func(s *node) {
		s.MinItems, s.MaxItems = bound(fewest), bound(most)
		r(s.Items)
	}
}

// first refines the value of a member that can also be null.
func first(r rule) rule { return func(s *node) { r(s.AnyOf[0]) } }

func bound(n int) *uint64 {
	if n == 0 {
		return nil
	}
	u := uint64(n)
	return &u
}

func pattern(re, example string) rule {
	return func(s *node) { s.Pattern, s.Examples = re, []any{example} }
}

func uri(scheme, example string) rule { return pattern("^"+scheme+":", example) }

// tags restricts a string to values.
func tags(values ...string) rule {
	return func(s *node) {
		for _, v := range values {
			s.Enum = append(s.Enum, v)
		}
	}
}

// nullable allows null in addition to a schema.
// knownCapabilities leaves the values of unknown names open: hosts ignore them.
func knownCapabilities(s *node) {
	s.Properties = jsonschema.NewProperties()
	s.Properties.Set(ahp.CapabilityCanvas, nullable(&node{Type: "object"}))
	s.AdditionalProperties = nil
}

func nullable(s *node) *node { return &node{AnyOf: []*node{s, {Type: "null"}}} }
