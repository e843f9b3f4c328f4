package schema_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestLanguages checks that the types of each language name every definition and every
// member of the bundle, and that their braces are balanced. TestRust compiles Rust; no
// compiler reads Kotlin and Swift.
func TestLanguages(t *testing.T) {
	var bundle struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"$defs"`
	}
	text, err := os.ReadFile("bundle.json")
	if err == nil {
		err = json.Unmarshal(text, &bundle)
	}
	if err != nil || len(bundle.Defs) < 100 {
		t.Fatalf("%d definitions: %v", len(bundle.Defs), err)
	}
	for file, keywords := range map[string][]string{
		"rust/ahp.rs": {"pub struct ", "pub enum ", "pub type "}, "kotlin/Ahp.kt": {"class ", "sealed interface ", "typealias "},
		"swift/AHP.swift": {"public struct ", "public enum ", "public typealias "},
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := string(data)
		if open, closed := strings.Count(code, "{"), strings.Count(code, "}"); open != closed {
			t.Errorf("%s: %d braces open and %d close", file, open, closed)
		}
		for name, d := range bundle.Defs {
			at := -1
			for _, keyword := range keywords {
				for _, end := range []string{" ", ":", "("} {
					at = max(at, strings.Index(code, keyword+name+end))
				}
			}
			if at < 0 {
				t.Errorf("%s has no %s", file, name)
				continue
			}
			end := "\n}\n"
			if strings.HasSuffix(file, ".rs") {
				end = "\n});\n" // of object!
			}
			body, _, _ := strings.Cut(code[at:], end)
			for member, rules := range d.Properties {
				if !strings.Contains(body, `"`+member+`"`) && !strings.Contains(string(rules), `"const"`) {
					t.Errorf("%s: %s has no %s", file, name, member)
				}
			}
		}
	}
}
