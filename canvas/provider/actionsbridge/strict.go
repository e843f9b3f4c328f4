package actionsbridge

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// CheckManifest checks an actions.json file, strictly: by the rules of the manifest's
// schema reference, and that it names no file and no import outside its folder. It returns
// nil for a valid file.
func CheckManifest(raw []byte) []Issue {
	c := &checker{}
	v := ahp.Value(raw)
	var doc any
	switch {
	case len(raw) > maxManifest:
		c.issue("", "size", "the file has %d bytes, at most %d are allowed", len(raw), maxManifest)
		return c.issues
	case !v.IsValid():
		c.issue("", "json", "the file is not JSON in UTF-8 without repeated members")
		return c.issues
	}
	if depth, _ := ahp.Measure(v); depth > maxDepth {
		c.issue("", "json", "the file is nested more than %d levels deep", maxDepth)
		return c.issues
	}
	if err := ahp.Unmarshal(v, &doc); err != nil {
		c.issue("", "json", "the file cannot be read: %v", err)
		return c.issues
	}
	m, ok := doc.(map[string]any)
	if !ok {
		c.issue("", "json", "the file is a JSON object")
		return c.issues
	}
	c.check(m)
	return c.issues
}

// checker collects the issues of a file.
type checker struct {
	issues      []Issue
	tools       map[string]bool
	signals     map[string]bool
	states      map[string]bool
	attachments map[string]bool
	targets     map[string]bool // names of diagnostics, which a check can refer to
}

func (c *checker) issue(at, rule, format string, args ...any) {
	c.issues = append(c.issues, Issue{at, rule, fmt.Sprintf(format, args...)})
}

// object is a JSON object with its place.
type object struct {
	at string
	m  map[string]any
}

func (c *checker) check(m map[string]any) {
	if m["protocol"] != "actions.json" {
		c.issue("/protocol", "protocol", `protocol is "actions.json"`)
	}
	if m["version"] != float64(1) {
		c.issue("/version", "version", "version is 1")
	}
	_, isTools := m["tools"].([]any)
	if !isTools {
		c.issue("/tools", "tools", "tools is an array")
	}
	c.targets = map[string]bool{}
	if c.tools = c.names(m, "tools", "name"); !isTools {
		c.tools = nil // references to tools are then no further issues
	}
	c.signals = c.names(m, "signals", "name")
	c.states = c.names(m, "states", "name")
	c.attachments = c.names(m, "attachments", "id")
	c.names(m, "transitions", "name")
	c.names(m, "context", "id")
	c.names(m, "imports", "id")
	c.names(m, "checks", "id")
	for _, t := range c.objects(m, "tools") {
		c.tool(t)
	}
	for _, s := range c.objects(m, "signals") {
		c.signal(s)
	}
	for _, a := range c.objects(m, "attachments") {
		c.attachment(a)
	}
	for _, t := range c.objects(m, "transitions") {
		c.transition(t)
	}
	for _, k := range c.objects(m, "checks") {
		c.probe(k)
	}
	for _, i := range c.objects(m, "imports") {
		c.imported(i)
	}
	c.walk("", m)
}

// objects returns the objects of a list.
func (c *checker) objects(m map[string]any, list string) (out []object) {
	items, _ := m[list].([]any)
	for n, item := range items {
		if o, ok := item.(map[string]any); ok {
			out = append(out, object{fmt.Sprintf("/%s/%d", list, n), o})
		}
	}
	return out
}

// names checks the names of a list, and returns them.
func (c *checker) names(m map[string]any, list, member string) map[string]bool {
	names := map[string]bool{}
	items, isList := m[list].([]any)
	if v := m[list]; v != nil && !isList && list != "tools" {
		c.issue("/"+list, "name", "%s is an array", list)
	}
	for n, item := range items {
		at := fmt.Sprintf("/%s/%d", list, n)
		o, ok := item.(map[string]any)
		if !ok {
			c.issue(at, "name", "want an object with a safe %s", member)
			continue
		}
		name, _ := o[member].(string)
		if !SafeName(name) {
			c.issue(at+"/"+member, "name", "%s is a safe dotted identifier, as in search.submit", member)
			continue
		}
		if names[name] {
			c.issue(at+"/"+member, "duplicate", "there are two %s with the %s %q", list, member, name)
		}
		names[name] = true
		c.diagnostics(o)
	}
	return names
}

func (c *checker) diagnostics(state map[string]any) {
	list, _ := state["diagnostics"].([]any)
	for _, d := range list {
		if o, ok := d.(map[string]any); ok {
			if name, ok := o["name"].(string); ok {
				c.targets[name] = true
			}
		}
	}
}

func (c *checker) schema(at string, m map[string]any, member string) {
	if v := m[member]; v != nil {
		if _, ok := v.(map[string]any); !ok {
			c.issue(at+"/"+member, "schema", "%s is a JSON object", member)
		}
	}
}

func (c *checker) tool(t object) {
	c.schema(t.at, t.m, "input_schema")
	c.schema(t.at, t.m, "result_schema")
	x, _ := t.m["x_actions"].(map[string]any)
	c.schema(t.at+"/x_actions", x, "result_schema")
	if x["direction"] == "html_to_agent" {
		return // an agent cannot call it
	}
	handler, _ := x["handler"].(string)
	if handler != "" && !SafeName(handler) {
		c.issue(t.at+"/x_actions/handler", "handler", "a handler is a safe dotted name, as in contactForm.submit")
		return
	}
	execution, _ := x["execution"].(map[string]any)
	steps, _ := execution["steps"].([]any)
	_, workflow := t.m["workflow"].(map[string]any)
	if handler == "" && len(steps) == 0 && !workflow {
		c.issue(t.at, "handler", "the tool has no handler and no steps")
	}
}

func (c *checker) signal(s object) {
	c.schema(s.at, s.m, "payload")
	if event, _ := s.m["event"].(string); s.m["ingestion"] == "enabled" && event == "" {
		c.issue(s.at, "event", "an enabled signal has an event")
	}
}

func (c *checker) attachment(a object) {
	_, target := a.m["target"].(map[string]any)
	_, lifecycle := a.m["lifecycle"].(map[string]any)
	if !target || !lifecycle {
		c.issue(a.at, "attachment", "an attachment has a target and a lifecycle")
	}
}

func (c *checker) transition(t object) {
	for _, member := range []string{"from", "to"} {
		for _, state := range texts(t.m[member]) {
			if !c.states[state] {
				c.issue(t.at+"/"+member, "transition", "there is no state %q", state)
			}
		}
	}
}

// probe checks what a check refers to.
func (c *checker) probe(k object) {
	visit(k.at, k.m, func(at string, m map[string]any) {
		for member, known := range map[string]map[string]bool{"tool": c.tools, "state": c.states, "attachment": c.attachments, "target": c.targets} {
			name, ok := m[member].(string)
			if ok && known != nil && !known[name] && !(member == "target" && (c.attachments[name] || c.states[name] || c.tools[name])) {
				c.issue(at+"/"+member, "check", "there is no %s %q", member, name)
			}
		}
	})
}

// imported checks an import: only files of the folder are used.
func (c *checker) imported(i object) {
	if uri, ok := i.m["uri"].(string); ok && !insideFolder(uri) {
		c.issue(i.at+"/uri", "imports", "an import is in the folder: %q is not", uri)
	}
}
