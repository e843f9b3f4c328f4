package a2ui

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// load decodes a file of testdata.
func load[T any](t testing.TB, name string) (v T) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func names(t testing.TB, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(all) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for n, name := range all {
		all[n], _ = filepath.Rel("testdata", name)
	}
	return all
}

// verdict returns what is wrong with a server-to-client message's form.
func verdict(c *Catalog, raw ahp.Value) string {
	var u update
	u.open(raw)
	if u.failure == nil {
		if f := c.validate(u.key, u.message); f != nil {
			u.fail(CodeValidationFailed, f.at, f.words)
		}
	}
	if u.failure == nil {
		return ""
	}
	return u.failure.Path + ": " + u.failure.Message
}

func clientVerdict(raw ahp.Value) string {
	if _, err := ReadMessage(raw); err != nil {
		return err.Path + ": " + err.Message
	}
	return ""
}

// TestCases: the verdicts of A2UI's own schema tests.
func TestCases(t *testing.T) {
	t.Parallel()
	n := 0
	for _, name := range names(t, "cases/*.json") {
		file := load[struct {
			Schema string
			Tests  []struct {
				Description string
				Valid       bool
				Data        json.RawMessage
			}
		}](t, name)
		for _, c := range file.Tests {
			n++
			var got string
			switch file.Schema {
			case "server_to_client.json":
				got = verdict(Basic(), ahp.Value(c.Data))
			case "client_to_server.json":
				got = clientVerdict(ahp.Value(c.Data))
			default:
				t.Fatalf("%s: schema %s", name, file.Schema)
			}
			if (got == "") != c.Valid {
				t.Errorf("%s: %s: valid %v, got %q", name, c.Description, c.Valid, got)
			}
			if os.Getenv("A2UI_WORDS") != "" && got != "" {
				t.Logf("%s", got)
			}
		}
	}
	if n != 76 {
		t.Errorf("%d cases, want 76", n)
	}
	raw, err := os.ReadFile("testdata/cases/contact_form_example.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		if got := verdict(Basic(), bytes.TrimSpace(line)); got != "" {
			t.Errorf("contact_form_example.jsonl: %s", got)
		}
	}
}

// example is an example of the basic catalog.
type example struct{ Messages []ahp.Value }

// TestExamples: the 36 streams of the basic catalog apply without an error. One leaves two
// components that it has replaced.
func TestExamples(t *testing.T) {
	t.Parallel()
	n := 0
	for _, name := range names(t, "examples/*.json") {
		list := load[example](t, name).Messages
		n += len(list)
		s := NewSurfaces(Limits{})
		r := s.Apply("Agent", list)
		replaced := func(f Failure) bool {
			return strings.Contains(name, "31_incremental-dashboard") && strings.Contains(f.Message, "is not below root")
		}
		r.Warnings = slices.DeleteFunc(r.Warnings, replaced)
		if r.Applied != len(list) || len(r.Errors)+len(r.Warnings) > 0 {
			t.Errorf("%s: applied %d of %d, %v, %v", name, r.Applied, len(list), r.Errors, r.Warnings)
		}
		checkReplay(t, s)
	}
	if n != 108 {
		t.Errorf("%d messages, want 108", n)
	}
}

// checkReplay checks that a replay draws the same surfaces, within its limits.
func checkReplay(t testing.TB, s *Surfaces) {
	t.Helper()
	again := NewSurfaces(s.limits, s.catalogs...)
	for _, batch := range s.Replay() {
		if size := len(ahp.MustMarshal(batch)) - len("[]"); size > s.limits.PartBytes {
			t.Errorf("a batch of %d bytes", size)
		}
		owners := s.Owners()
		for _, m := range batch {
			var head map[string]ahp.Value
			if err := ahp.Unmarshal(m, &head); err != nil {
				t.Fatal(err)
			}
			var owner string
			for _, key := range sortedUpdateKeys {
				var b struct{ SurfaceID string }
				if json.Unmarshal(head[key], &b) == nil && b.SurfaceID != "" {
					owner = owners[b.SurfaceID]
				}
			}
			if r := again.Apply(owner, []ahp.Value{m}); len(r.Errors) > 0 {
				t.Errorf("the replay breaks a rule: %v", r.Errors)
			}
		}
	}
	if a, b := again.Save(), s.Save(); !bytes.Equal(a, b) {
		t.Errorf("the replay draws\n%s, want\n%s", a, b)
	}
	loaded := NewSurfaces(s.limits, s.catalogs...)
	if err := loaded.Load(s.Save()); err != nil || !bytes.Equal(loaded.Save(), s.Save()) || loaded.Bytes() != s.Bytes() {
		t.Errorf("saved and loaded: %v", err)
	}
}

// suiteCase is a case of upstream's conformance suite.
type suiteCase struct {
	Name    string
	Catalog struct {
		CommonTypes json.RawMessage `json:"common_types_schema"`
		Messages    json.RawMessage `json:"s2c_schema"`
		Schema      json.RawMessage `json:"catalog_schema"`
	}
	Payload     []ahp.Value
	ExpectError string `json:"expect_error"`
	Steps       []struct {
		Payload     []ahp.Value
		ExpectError string `json:"expect_error"`
	}
}

// classes are the classes of failures of the suite by its words, and of ours by ours.
var classes = []struct{ theirs, ours string }{
	{"'version' is a required property", "version is absent"},
	{"'v0.9' was expected", "is not supported"},
	{"is not of type 'string'", "want a string"},
	{"is a required property", "lacks"},
	{"Duplicate component ID", "is in the message twice"},
	{"Self-reference detected", "names itself as a child"},
	{"Circular reference detected", "circle of references"},
	{"functionCall depth > 5", "function calls are nested more than 5"},
	{"Global recursion limit exceeded", "nested more than 50"},
	{"Invalid path syntax", "neither ~0 nor ~1"},
	// Warnings here: a later message can complete the surface.
	{"Missing root component", `no component "root" yet`},
	{"references non-existent component", "has not come yet"},
	{"is not reachable from 'root'", "is not below root"},
}

var warningsHere = regexp.MustCompile("Missing root|non-existent component|not reachable")

// TestSuite: the v0.9 cases of upstream's validator suite, by class of failure.
func TestSuite(t *testing.T) {
	t.Parallel()
	all := load[struct{ Cases []suiteCase }](t, "suites/validator_v09.json").Cases
	if len(all) != 20 {
		t.Errorf("%d cases, want 20", len(all))
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			catalog, err := Compile(CatalogFiles{Catalog: c.Catalog.Schema, CommonTypes: c.Catalog.CommonTypes, ServerToClient: c.Catalog.Messages})
			if err != nil {
				t.Fatal(err)
			}
			if c.Steps == nil {
				c.Steps = append(c.Steps, struct {
					Payload     []ahp.Value
					ExpectError string `json:"expect_error"`
				}{c.Payload, c.ExpectError})
			}
			for n, step := range c.Steps {
				suiteStep(t, catalog, n, step.Payload, step.ExpectError)
			}
		})
	}
}

func suiteStep(t *testing.T, catalog *Catalog, n int, payload []ahp.Value, want string) {
	t.Helper()
	s := NewSurfaces(Limits{}, catalog)
	catalog.ids = append(catalog.ids, "standard", "std", "test_catalog", "custom")
	if !strings.Contains(string(ahp.MustMarshal(payload)), "createSurface") { // an increment
		for _, m := range payload {
			var head struct {
				UpdateComponents, UpdateDataModel struct{ SurfaceID string }
			}
			if json.Unmarshal(m, &head) == nil {
				id := head.UpdateComponents.SurfaceID + head.UpdateDataModel.SurfaceID
				s.Apply("a", []ahp.Value{ahp.MustMarshal(body{Version: V09, CreateSurface: &creation{id, catalog.id, ahp.Value("{}"), false}})})
			}
		}
	}
	r := s.Apply("a", payload)
	if want == "" {
		if len(r.Errors) > 0 {
			t.Errorf("step %d: %v", n, r.Errors)
		}
		return
	}
	i := slices.IndexFunc(classes, func(c struct{ theirs, ours string }) bool { return strings.Contains(want, c.theirs) })
	if i < 0 {
		t.Fatalf("step %d: no class for %q", n, want)
	}
	got := r.Errors
	if warningsHere.MatchString(want) {
		got = r.Warnings
		if len(r.Errors) > 0 {
			t.Errorf("step %d: %v", n, r.Errors)
		}
	}
	if !slices.ContainsFunc(got, func(f Failure) bool { return strings.Contains(f.Message, classes[i].ours) }) {
		t.Errorf("step %d: got %v, want %q (theirs: %q)", n, got, classes[i].ours, want)
	}
}
