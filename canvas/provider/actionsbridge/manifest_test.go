package actionsbridge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestUpstreamManifestsStrict checks the published manifests: their issues are known.
func TestUpstreamManifestsStrict(t *testing.T) {
	for _, c := range []struct {
		file  string
		rules map[string]int
	}{
		{"simple-form.actions.json", map[string]int{}},
		{"overlay.actions.jsonc", map[string]int{"handler": 24}},
		{"good-map.actions.json", map[string]int{"version": 1}},
		{"bad-map.actions.json", map[string]int{"version": 1}},
		{"prime-video.actions.json", map[string]int{"version": 1, "handler": 1}},
		{"linear.actions.json", map[string]int{"version": 1, "handler": 1}},
	} {
		got := map[string]int{}
		issues := ab.CheckManifest(read(t, "upstream", c.file))
		for _, i := range issues {
			got[i.Rule]++
		}
		if len(got) != len(c.rules) {
			t.Errorf("%s: issues %v, want %v", c.file, issues, c.rules)
		}
		for rule, n := range c.rules {
			if got[rule] != n {
				t.Errorf("%s: %d issues of rule %s, want %d: %v", c.file, got[rule], rule, n, issues)
			}
		}
	}
}

// TestStrictRules breaks each rule once in a valid file.
func TestStrictRules(t *testing.T) {
	valid := func() map[string]any {
		var m map[string]any
		if err := json.Unmarshal(read(t, "upstream", "simple-form.actions.json"), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	tool := func(m map[string]any) map[string]any { return m["tools"].([]any)[0].(map[string]any) }
	x := func(m map[string]any) map[string]any { return tool(m)["x_actions"].(map[string]any) }
	first := func(m map[string]any, list string) map[string]any { return m[list].([]any)[0].(map[string]any) }
	for _, c := range []struct {
		rule, path string
		change     func(m map[string]any)
	}{
		{"protocol", "/protocol", func(m map[string]any) { delete(m, "protocol") }},
		{"protocol", "/protocol", func(m map[string]any) { m["protocol"] = "x" }},
		{"version", "/version", func(m map[string]any) { delete(m, "version") }},
		{"version", "/version", func(m map[string]any) { m["version"] = "1" }},
		{"version", "/version", func(m map[string]any) { m["version"] = 2 }},
		{"tools", "/tools", func(m map[string]any) { m["tools"] = map[string]any{} }},
		{"name", "/signals/0/name", func(m map[string]any) { first(m, "signals")["name"] = "a..b" }},
		{"name", "/context/0/id", func(m map[string]any) { first(m, "context")["id"] = "../x" }},
		{"name", "/imports/0/id", func(m map[string]any) { m["imports"] = []any{map[string]any{"id": "1"}} }},
		{"duplicate", "/tools/1/name", func(m map[string]any) { m["tools"] = append(m["tools"].([]any), tool(m)) }},
		{"schema", "/tools/0/input_schema", func(m map[string]any) { tool(m)["input_schema"] = "object" }},
		{"schema", "/tools/0/x_actions/result_schema", func(m map[string]any) { x(m)["result_schema"] = []any{} }},
		{"schema", "/signals/0/payload", func(m map[string]any) { first(m, "signals")["payload"] = true }},
		{"handler", "/tools/0", func(m map[string]any) { delete(x(m), "handler"); delete(x(m), "execution") }},
		{"handler", "/tools/0/x_actions/handler", func(m map[string]any) { x(m)["handler"] = "alert(1)" }},
		{"event", "/signals/0", func(m map[string]any) { delete(first(m, "signals"), "event") }},
		{"selector", "/tools/0/target/selector", func(m map[string]any) { tool(m)["target"].(map[string]any)["selector"] = 1 }},
		{"attachment", "/attachments/0", func(m map[string]any) { delete(first(m, "attachments"), "lifecycle") }},
		{"attachment", "/attachments/0", func(m map[string]any) { delete(first(m, "attachments"), "target") }},
		{"transition", "/transitions/0/to", func(m map[string]any) { first(m, "transitions")["to"] = "nowhere" }},
		{"check", "/checks/1/steps/0/tool", func(m map[string]any) {
			m["checks"].([]any)[1].(map[string]any)["steps"].([]any)[0].(map[string]any)["tool"] = "no.such"
		}},
		{"source", "/tools/0/x_actions/source/files/0", func(m map[string]any) {
			x(m)["source"].(map[string]any)["files"] = []any{"../../etc/passwd"}
		}},
		{"source", "/prompt/source/files/0", func(m map[string]any) {
			m["prompt"].(map[string]any)["source"].(map[string]any)["files"] = []any{"/etc/passwd"}
		}},
		{"source", "/prompt/source/files/0", func(m map[string]any) {
			m["prompt"].(map[string]any)["source"].(map[string]any)["files"] = []any{`C:\x`}
		}},
		{"imports", "/imports/0/uri", func(m map[string]any) {
			m["imports"] = []any{map[string]any{"id": "far", "uri": "https://linear.app/actions.json"}}
		}},
	} {
		m := valid()
		c.change(m)
		issues := ab.CheckManifest(ahp.MustMarshal(m))
		if len(issues) != 1 || issues[0].Rule != c.rule || issues[0].Path != c.path {
			t.Errorf("rule %s at %s: issues %v", c.rule, c.path, issues)
		}
	}
	if issues := ab.CheckManifest([]byte(`{"protocol":"actions.json","protocol":"actions.json"}`)); len(issues) != 1 || issues[0].Rule != "json" {
		t.Errorf("repeated member: %v", issues)
	}
}

func TestLenientManifest(t *testing.T) {
	m, issues := ab.ReadManifest(read(t, "upstream", "overlay.actions.jsonc"))
	if len(issues) != 0 || len(m.Actions) != 58 || len(m.Signals) != 4 || m.Host != "extension" {
		t.Fatalf("overlay: %d actions, %d signals, host %q, issues %v", len(m.Actions), len(m.Signals), m.Host, issues)
	}
	for _, a := range m.Actions {
		if a.Hidden != "" {
			t.Errorf("%s is hidden: %s", a.Name, a.Hidden)
		}
	}
	for _, c := range []struct{ manifest, path string }{
		{`{"tools":{}}`, "/tools"},
		{`{"tools":[1]}`, "/tools/0"},
		{`{"tools":[{"name":"a"},{"name":"a"}]}`, "/tools/1/name"},
		{`{"tools":[{"name":"../x"}]}`, "/tools/0/name"},
		{`{"tools":[{"name":"a","input_schema":[]}]}`, "/tools/0/input_schema"},
		{`{"version":2}`, "/version"},
		{`{"protocol":"x"}`, "/protocol"},
		{`[]`, ""},
	} {
		m, issues := ab.ReadManifest(ahp.Value(c.manifest))
		if len(issues) != 1 || issues[0].Path != c.path || len(m.Actions) != 0 {
			t.Errorf("%s: issues %v, %d actions", c.manifest, issues, len(m.Actions))
		}
	}
	for _, ok := range []string{`{}`, `{"protocol":null,"version":null,"tools":null}`, `{"version":1,"protocol":"actions.json","tools":[{"name":"a","input_schema":null}]}`} {
		if _, issues := ab.ReadManifest(ahp.Value(ok)); len(issues) != 0 {
			t.Errorf("%s: %v", ok, issues)
		}
	}
}

// TestSchemaBeyondBounds hides a tool whose schema cannot be enforced, and only that tool.
func TestSchemaBeyondBounds(t *testing.T) {
	bomb := `{"anyOf":[` + strings.Repeat(`{"type":"object"},`, 5000) + `{}]}`
	for _, schema := range []string{`{"$ref":"https://elsewhere.example/schema"}`, `{"$dynamicRef":"#meta"}`, bomb, `{"description":"` + strings.Repeat("x", 70<<10) + `"}`} {
		for _, member := range []string{"input_schema", "result_schema"} {
			m, issues := ab.ReadManifest(ahp.Value(`{"tools":[{"name":"bad","` + member + `":` + schema + `},{"name":"good"}]}`))
			if len(issues) != 0 {
				t.Fatalf("%.40s: %v", schema, issues)
			}
			if m.Actions[0].Hidden == "" {
				t.Errorf("%s %.60s is not hidden", member, schema)
			}
			if err := m.CheckCall("bad", nil); err == nil || err.Code != ab.CodeUnknownAction {
				t.Errorf("a hidden tool: %v", err)
			}
			if err := m.CheckCall("good", nil); err != nil {
				t.Errorf("the other tool: %v", err)
			}
		}
	}
}
