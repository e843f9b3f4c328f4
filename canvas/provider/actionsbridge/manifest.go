package actionsbridge

import (
	"fmt"
	"regexp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
)

// Issue is one reason why a manifest is invalid.
type Issue struct {
	Path    string `json:"path"`    // a JSON Pointer into the manifest
	Rule    string `json:"rule"`    // what is broken, as in "version"
	Message string `json:"message"` // for people
}

// String returns the place and the message.
func (i Issue) String() string {
	if i.Path == "" {
		return i.Message
	}
	return i.Path + ": " + i.Message
}

// Values of Action.Support.
const (
	Supported   = "supported"
	Partial     = "partial"
	Unsupported = "unsupported"
)

// Action is something that can be called on a runtime.
type Action struct {
	Name        string    // its safe dotted name
	Description string    // for agents; data of the page
	Support     string    // "", Supported, Partial or Unsupported
	Reason      string    // why it is unsupported, in the runtime's words
	InputSchema ahp.Value // of its arguments; nil if the manifest has none
	Hidden      string    // why it cannot be called: its schema cannot be enforced; "" if it can
	Debug       bool      // only with scripts allowed
	Handler     string    // the page's function, for a page that the caller runs; "" if there is none
	Requires    []string  // capabilities that it needs
}

// Signal is an event that a page may send.
type Signal struct {
	Name    string // what is reported
	Event   string // the name of the DOM event
	Enabled bool   // whether events are passed on
	schema  *jsonschema.Schema
	hidden  bool // its payload cannot be checked
}

// Capability is a row of a primitive dictionary.
type Capability struct {
	Support string // Supported, Partial or Unsupported
	Reason  string // in the runtime's words
	Class   string // "debug" needs permission
}

// Manifest is an actions.json that was read. It does not change, except that
// [Manifest.Merged] makes others from it. Its methods may be called concurrently, and also
// on a nil Manifest, which has nothing.
type Manifest struct {
	// Host is the kind of program that the dictionary is about, as in "extension".
	Host string
	// Actions are the tools, in the manifest's order.
	Actions []Action
	// Signals are the events of the page.
	Signals []Signal

	index        map[string]int // into Actions
	inputs       map[string]*jsonschema.Schema
	results      map[string]*jsonschema.Schema
	capabilities map[string]Capability
}

// safeName is what names and ids must look like.
var safeName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*(\.[a-zA-Z][a-zA-Z0-9_-]*)*$`)

// SafeName reports whether a name or id is a safe dotted identifier of at most 256 bytes.
func SafeName(name string) bool { return len(name) <= maxString && safeName.MatchString(name) }

// schemaLimits bound one schema of a manifest.
var schemaLimits = jsonschema.Limits{Bytes: 64 << 10, Depth: 32}

// rawManifest are the members of a manifest that calls need.
type rawManifest struct {
	Protocol   ahp.Value `json:"protocol,omitzero"`
	Version    ahp.Value `json:"version,omitzero"`
	Tools      ahp.Value `json:"tools,omitzero"`
	Signals    ahp.Value `json:"signals,omitzero"`
	Dictionary ahp.Value `json:"primitive_dictionary,omitzero"`
}

// rawTool is a tool. Members of a wrong type that calls do not need are ignored.
type rawTool struct {
	Name         ahp.Value `json:"name,omitzero"`
	Description  ahp.Value `json:"description,omitzero"`
	InputSchema  ahp.Value `json:"input_schema,omitzero"`
	ResultSchema ahp.Value `json:"result_schema,omitzero"`
	Requires     ahp.Value `json:"requires,omitzero"`
	XActions     ahp.Value `json:"x_actions,omitzero"`
}

type rawXActions struct {
	Handler      ahp.Value `json:"handler,omitzero"`
	Class        ahp.Value `json:"capability_class,omitzero"`
	ResultSchema ahp.Value `json:"result_schema,omitzero"`
}

// absent reports whether an optional member is absent or null.
func absent(v ahp.Value) bool { return v == nil || v.Kind() == 'n' }

// ReadManifest reads the manifest of a runtime, leniently: protocol, version and tools can
// be absent. With issues nothing may be called, and the manifest has no actions.
func ReadManifest(v ahp.Value) (*Manifest, []Issue) { return readManifest(v, nil) }

func readManifest(v ahp.Value, memory *jsonschema.Memory) (*Manifest, []Issue) {
	r := reader{m: &Manifest{index: map[string]int{}, inputs: map[string]*jsonschema.Schema{}, results: map[string]*jsonschema.Schema{}, capabilities: map[string]Capability{}}}
	r.set.Memory = memory
	var raw rawManifest
	if !v.IsValid() || v.Kind() != '{' || ahp.Unmarshal(v, &raw) != nil {
		r.issue("", "json", "a manifest is a JSON object")
		return r.m, r.issues
	}
	if !absent(raw.Protocol) && !ahp.Equal(raw.Protocol, ahp.Value(`"actions.json"`)) {
		r.issue("/protocol", "protocol", `protocol is "actions.json"`)
	}
	if !absent(raw.Version) && !ahp.Equal(raw.Version, ahp.Value("1")) {
		r.issue("/version", "version", "the only version is 1")
	}
	r.dictionary(raw.Dictionary)
	r.tools(raw.Tools)
	r.signals(raw.Signals)
	if len(r.issues) > 0 {
		r.m.Actions, r.m.Signals, r.m.index = nil, nil, map[string]int{}
	}
	return r.m, r.issues
}

// reader builds a Manifest.
type reader struct {
	m      *Manifest
	issues []Issue
	set    jsonschema.Set // one budget for all schemas
}

func (r *reader) issue(path, rule, format string, args ...any) {
	r.issues = append(r.issues, Issue{path, rule, fmt.Sprintf(format, args...)})
}

func (r *reader) tools(v ahp.Value) {
	if absent(v) {
		return
	}
	var tools []ahp.Value
	if v.Kind() != '[' || ahp.Unmarshal(v, &tools) != nil {
		r.issue("/tools", "tools", "tools is an array")
		return
	}
	if len(tools) > maxTools {
		r.issue("/tools", "tools", "there are %d tools, at most %d are allowed", len(tools), maxTools)
		return
	}
	for n, raw := range tools {
		r.tool(fmt.Sprintf("/tools/%d", n), raw)
	}
}

func (r *reader) tool(at string, raw ahp.Value) {
	var t rawTool
	if raw.Kind() != '{' || ahp.Unmarshal(raw, &t) != nil {
		r.issue(at, "tools", "a tool is an object")
		return
	}
	name, _ := textOf(t.Name)
	if !SafeName(name) {
		r.issue(at+"/name", "name", "the name of a tool is a safe dotted identifier")
		return
	}
	if _, taken := r.m.index[name]; taken {
		r.issue(at+"/name", "duplicate", "there are two tools with the name %q", name)
		return
	}
	if !absent(t.InputSchema) && t.InputSchema.Kind() != '{' {
		r.issue(at+"/input_schema", "schema", "a schema is a JSON object")
		return
	}
	var x rawXActions
	if !absent(t.XActions) && t.XActions.Kind() == '{' {
		_ = ahp.Unmarshal(t.XActions, &x) // it was decoded as a part of the whole
	}
	a := Action{Name: name, Debug: debugName(name)}
	a.Description, _ = textOf(t.Description)
	a.Handler, _ = textOf(x.Handler)
	if class, _ := textOf(x.Class); class == "debug" {
		a.Debug = true
	}
	if t.Requires != nil && t.Requires.Kind() == '[' {
		_ = ahp.Unmarshal(t.Requires, &a.Requires) // names in another form are no requirement
	}
	r.schemas(&a, t, x)
	r.m.index[name] = len(r.m.Actions)
	r.m.Actions = append(r.m.Actions, a)
}

// schemas compiles the schemas of a tool.
func (r *reader) schemas(a *Action, t rawTool, x rawXActions) {
	if !absent(t.InputSchema) {
		a.InputSchema = t.InputSchema
		s, err := r.set.Compile(t.InputSchema, schemaLimits)
		if err == nil {
			err = s.Unchecked()
		}
		if err != nil {
			a.Hidden = "its input_schema cannot be enforced: " + cleanText(err.Error(), maxString)
		}
		r.m.inputs[a.Name] = s
	}
	result := x.ResultSchema
	if absent(result) {
		result = t.ResultSchema
	}
	if !absent(result) {
		s, err := r.set.Compile(result, schemaLimits)
		if err == nil {
			err = s.Unchecked()
		}
		if err != nil && a.Hidden == "" {
			a.Hidden = "its result_schema cannot be enforced: " + cleanText(err.Error(), maxString)
		}
		r.m.results[a.Name] = s
	}
}
