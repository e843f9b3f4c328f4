package aam_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "manifests", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// parse reads a manifest as one of an address.
func parse(t testing.TB, raw []byte, at string) (*aam.Manifest, []aam.Warning, error) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	m, warnings, err := aam.ParseManifest(raw)
	if err != nil {
		return nil, nil, err
	}
	more, err := m.Locate(u)
	return m, append(warnings, more...), err
}

// rosso is the manifest of AAM's specification, with a change.
func rosso(t testing.TB, old, new string) []byte {
	t.Helper()
	raw := string(read(t, "manifest_cafe_rosso.json"))
	if old != "" && !strings.Contains(raw, old) {
		t.Fatalf("the manifest has no %s", old)
	}
	return []byte(strings.Replace(raw, old, new, 1))
}

const rossoURL = "https://caferosso.com/.well-known/agent-actions.json"

// TestSpecManifest reads the manifest of AAM's specification, and the same in the file of
// all samples.
func TestSpecManifest(t *testing.T) {
	var samples struct{ Samples []json.RawMessage }
	if err := json.Unmarshal(read(t, "seed_samples.json"), &samples); err != nil {
		t.Fatal(err)
	}
	for _, raw := range [][]byte{read(t, "manifest_cafe_rosso.json"), samples.Samples[0]} {
		m, warnings, err := parse(t, raw, rossoURL)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%v, %v", warnings, err)
		}
		if m.Site.Name != "Cafe Rosso" || len(m.Actions) != 2 || !m.NeedsAuth("check_availability") || !m.Actions[0].Pricing.Free() {
			t.Errorf("manifest: %+v", m)
		}
		amount, network, ok := m.Actions[1].Pricing.Amounts()
		if !ok || amount.String() != "50000" || network.ChainID != 8453 {
			t.Errorf("price: %v %v %v", amount, network, ok)
		}
		link, err := m.SignIn("anthropic.com", "", nil)
		if err != nil || link.URL != "https://caferosso.com/agent/authorize?vendor=anthropic.com" {
			t.Errorf("sign-in: %v, %v", link, err)
		}
		want := `{"type":"object","properties":{"date":{"type":"string","format":"date","pattern":"^\\d{4}-\\d{2}-\\d{2}$"},"time":{"type":"string","pattern":"^([01]\\d|2[0-3]):[0-5]\\d$"},"party_size":{"type":"integer","minimum":1,"maximum":12}},"required":["date","time","party_size"],"additionalProperties":false}`
		if got := m.Actions[0].InputSchema(); string(got) != want {
			t.Errorf("schema:\n%s\nwant\n%s", got, want)
		}
		if err := m.Actions[1].Check(ahp.Value(samples.Samples[1])); err != nil {
			t.Errorf("the specification's own call: %v", err)
		}
	}
}

// TestLiveManifests reads what was kept of two live manifests, which have no actions.
func TestLiveManifests(t *testing.T) {
	m, warnings, err := parse(t, read(t, "live_manifest_salon_aurora.partial.json"),
		"https://bookio.whatcanido.dev/bookio/b/salon-aurora/.well-known/agent-actions.json")
	if err != nil || len(m.Actions) != 0 {
		t.Fatalf("%v, %v", m, err)
	}
	if len(warnings) != 1 || warnings[0].Path != "/actions" {
		t.Errorf("warnings: %v", warnings)
	}
	if !m.NeedsAuth("book_appointment") || m.NeedsAuth("list") || !slices.Equal(m.Proofs(), []string{"aam_id", "per_site_consent"}) {
		t.Errorf("auth: %+v", m.Auth)
	}
	link, err := m.SignIn("claude-code", "", nil)
	want := "https://aam-platform-gamma.vercel.app/id/connect?agent=claude-code&scopes=book%3Aappointment%2Ccancel%3Aappointment&site=bookio:salon-aurora"
	if err != nil || link.URL != want || link.Proof != aam.ProofAAMID {
		t.Errorf("AAM ID: %v, %v", link, err)
	}
	link, err = m.SignIn("claude-code", aam.ProofPerSite, nil)
	if err != nil || link.URL != "https://bookio.whatcanido.dev/api/bookio/b/salon-aurora/aam/authorize?vendor=claude-code" {
		t.Errorf("per site: %v, %v", link, err)
	}
	m, _, err = parse(t, read(t, "live_manifest_kitchen_vault.partial.json"), "https://www.whatcanido.dev/b/kitchen-vault/.well-known/agent-actions.json")
	if err != nil || m.Security.MarkerOpen != "<aam:user-content>" || m.Auth.Proofs[0].AllScopes[0] != "write:recipes" {
		t.Fatalf("%+v, %v", m, err)
	}
	link, err = m.SignIn("a&b=c", "", nil)
	if err != nil || !strings.HasSuffix(link.URL, "?agent=a%26b%3Dc&scopes=write%3Arecipes&site=aamkit:kitchen-vault") {
		t.Errorf("escaped: %v, %v", link, err)
	}
}

// TestGoldenManifest reads and writes a manifest with everything that this package knows.
func TestGoldenManifest(t *testing.T) {
	raw := read(t, "golden.json")
	m, warnings, err := parse(t, raw, "https://board.example/.well-known/agent-actions.json")
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, %v", warnings, err)
	}
	if out := ahp.MustMarshal(m); !ahp.Equal(out, raw) {
		t.Errorf("written:\n%s", out)
	}
	if m.Auth.Type != aam.DelegatedOAuth || m.Auth.Proofs[0].Type != aam.ProofPerSite {
		t.Errorf("auth: %+v", m.Auth)
	}
}

// TestBadManifests refuses what breaks a rule, at its place.
func TestBadManifests(t *testing.T) {
	for _, c := range []struct{ old, new, path string }{
		{`"aam_version": "0.1"`, `"aam_version": "2.0"`, "/aam_version"},
		{`"aam_version": "0.1"`, `"aam_version": "0.10"`, "/aam_version"},
		{`"actions": [`, `"actions": {}, "x": [`, "/actions"},
		{`"id": "make_reservation"`, `"id": "check_availability"`, "/actions/1/id"},
		{`"id": "make_reservation"`, `"id": "a/b"`, "/actions/1/id"},
		{`"id": "make_reservation"`, `"id": "a\u0007b"`, "/actions/1/id"},
		{`"id": "make_reservation"`, `"id": ".."`, "/actions/1/id"},
		{`"required": true`, `"token_url": "https://evil.example/t"`, "/auth/token_url"},
		{`"required": true`, `"token_url": "http://caferosso.com/t"`, "/auth/token_url"},
		{`"required": true`, `"token_url": "//evil.example/t"`, "/auth/token_url"},
		{`"required": true`, `"accepted_identity_proofs":[{"type":"per_site_consent","token_url":"https://evil.example/t"}]`, "/auth/accepted_identity_proofs/0/token_url"},
		{`"name": "Cafe Rosso"`, `"name": ""`, "/site"},
		{`"max": 12`, `"max": 1e999999999`, "/actions/0/params"},
	} {
		_, _, err := parse(t, rosso(t, c.old, c.new), rossoURL)
		e, ok := errors.AsType[*aam.Error](err)
		if !ok || e.Code != aam.CodeManifestInvalid || e.Path != c.path {
			t.Errorf("%s: %v", c.new, err)
		}
	}
	for name, raw := range map[string]string{
		"html": "<html>", "too large": `{"x":"` + strings.Repeat("x", 256<<10) + `"}`,
		"deep": strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40),
		"257 actions": func() string {
			var ids []string
			for n := range 257 {
				ids = append(ids, fmt.Sprintf(`{"id":"a%d"}`, n))
			}
			return `{"aam_version":"0.1","site":{"name":"x","domain":"x.y"},"actions":[` + strings.Join(ids, ",") + `]}`
		}(),
	} {
		if _, _, err := aam.ParseManifest([]byte(raw)); err == nil {
			t.Errorf("%s is a manifest", name)
		}
	}
}

// TestWarnings keeps what can be used, and says what cannot.
func TestWarnings(t *testing.T) {
	for _, c := range []struct{ old, new, path string }{
		{`"domain": "caferosso.com"`, `"domain": "bank.example"`, "/site/domain"},
		{`"amount": "0.05"`, `"amount": "0.0000001"`, "/actions/1/pricing"},
		{`"amount": "0.05"`, `"amount": "1e3"`, "/actions/1/pricing"},
		{`"amount": "0.05"`, `"amount": "-1"`, "/actions/1/pricing"},
		{`"amount": "0.05"`, `"amount": 0.05`, "/actions/1/pricing"},
		{`"network": "base"`, `"network": "solana"`, "/actions/1/pricing"},
		{`"type": "x402"`, `"type": "stripe"`, "/actions/1/pricing"},
		{`"currency": "USDC"`, `"currency": "EUR"`, "/actions/1/pricing"},
		{`"pricing": "free"`, `"pricing": 7`, "/actions/0/pricing"},
	} {
		m, warnings, err := parse(t, rosso(t, c.old, c.new), rossoURL)
		if err != nil || len(warnings) != 1 || warnings[0].Path != c.path || len(m.Actions) != 2 {
			t.Errorf("%s: %v, %v", c.new, warnings, err)
			continue
		}
		if strings.Contains(c.path, "pricing") {
			at := int(c.path[len("/actions/")] - '0')
			if _, _, ok := m.Actions[at].Pricing.Amounts(); ok || m.Actions[at].Pricing.Free() {
				t.Errorf("%s can be paid, or is free", c.new)
			}
		}
	}
	m, warnings, err := parse(t, rosso(t, `"id": "make_reservation"`, `"id": "make_reservation","endpoint":"https://evil.example/x"`), rossoURL)
	if err != nil || len(m.Actions) != 1 || len(warnings) != 1 {
		t.Errorf("a foreign endpoint: %v, %v", warnings, err)
	}
	if _, warnings, _ := parse(t, rosso(t, "", ""), "https://www.caferosso.com/.well-known/agent-actions.json"); len(warnings) != 0 {
		t.Errorf("a parent domain: %v", warnings)
	}
	if _, warnings, _ := parse(t, rosso(t, "", ""), "https://notcaferosso.com/.well-known/agent-actions.json"); len(warnings) != 1 {
		t.Errorf("a name that ends alike: %v", warnings)
	}
}

// TestSites reads names and addresses.
func TestSites(t *testing.T) {
	for text, want := range map[string]string{
		"caferosso.com":         "https://caferosso.com",
		"https://CafeRosso.com": "https://caferosso.com",
		"caferosso.com/":        "https://caferosso.com",
		"https://bookio.whatcanido.dev/bookio/b/salon-aurora":  "https://bookio.whatcanido.dev/bookio/b/salon-aurora",
		"https://caferosso.com/.well-known/agent-actions.json": "https://caferosso.com",
		"bücher.example": "https://xn--bcher-kva.example",
	} {
		if s, err := aam.ParseSite(text, false); err != nil || s.String() != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "http://caferosso.com", "caferosso.com:8080/x?y", "caferosso.com:443", "https://u:p@caferosso.com", "127.0.0.1", "https://[::1]",
		"::ffff:127.0.0.1", "10.0.0.1", "2130706433", "127.1", "0x7f.1", "localhost", "foo.localhost", "caferosso.com/a/../b", "caferosso.com/%2e%2e", "ftp://caferosso.com", "caferosso.com#x",
		"https://caferosso.com?", "http://127.0.0.1:8080", "cafe rosso.com", "https://caferosso.com\\@evil.example", strings.Repeat("a", 600) + ".com"} {
		if s, err := aam.ParseSite(text, false); !errors.Is(err, &aam.Error{Code: aam.CodeInputInvalid}) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"http://127.0.0.1:8080", "http://localhost:3000/x"} {
		if s, err := aam.ParseSite(text, true); err != nil || s.String() != text {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	if _, err := aam.ParseSite("http://10.0.0.1:80", true); err == nil {
		t.Error("another private address is a site of this machine")
	}
}

// TestCheck holds parameters against an action's.
func TestCheck(t *testing.T) {
	m, _, err := parse(t, rosso(t, "", ""), rossoURL)
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"date":"2026-05-02","time":"19:00","party_size":4}`
	if err := m.Actions[0].Check(ahp.Value(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, path, rule string }{
		{`"party_size":4`, `"party_size":13`, "/party_size", "maximum"},
		{`"party_size":4`, `"party_size":0`, "/party_size", "minimum"},
		{`"party_size":4`, `"party_size":4.5`, "/party_size", "type"},
		{`"party_size":4`, `"party_size":1e99999999`, "/party_size", "type"},
		{`"party_size":4`, `"party_size":"4"`, "/party_size", "type"},
		{`"party_size":4`, `"party_size":4,"x/y":1`, "/x~1y", "additionalProperties"},
		{`,"party_size":4`, ``, "/party_size", "required"},
		{`19:00`, `25:00`, "/time", "pattern"},
		{`2026-05-02`, `2026-05-32`, "/date", "format"},
		{good, `[]`, "", "type"},
		{good, `{"date":"2026-05-02","date":"2026-05-03"}`, "", "type"},
	} {
		err := m.Actions[0].Check(ahp.Value(strings.Replace(good, c.old, c.new, 1)))
		e, ok := errors.AsType[*aam.Error](err)
		if !ok || e.Code != aam.CodeInputInvalid || e.Path != "/input/params"+c.path || e.Rule != c.rule {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}

// TestParams turns a schema into parameters and back.
func TestParams(t *testing.T) {
	schema := ahp.Value(`{"type":"object","properties":{"list":{"type":"string","enum":["todo","done"],"description":"Where."},"title":{"type":"string","minLength":1,"maxLength":200},"at":{"type":"string","pattern":"^([01]\\d|2[0-3]):[0-5]\\d$"},"n":{"type":"number","minimum":0.5}},"required":["list","title"],"additionalProperties":false}`)
	params, whole := aam.Params(schema)
	if !whole {
		t.Errorf("not whole: %s", params)
	}
	if back := (aam.Action{Params: params}).InputSchema(); !ahp.Equal(back, schema) {
		t.Errorf("back:\n%s", back)
	}
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"string"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"b":{"type":"string","pattern":"x"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"b":{"type":"string"}}}`,
		`{"type":"object","properties":{},"additionalProperties":false,"minProperties":1}`,
	} {
		if params, whole := aam.Params(ahp.Value(s)); whole {
			t.Errorf("whole: %s as %s", s, params)
		}
	}
}

// FuzzManifest looks for a manifest that panics, or that differs when it was written.
func FuzzManifest(f *testing.F) {
	for _, name := range []string{"manifest_cafe_rosso.json", "live_manifest_salon_aurora.partial.json", "live_manifest_kitchen_vault.partial.json", "golden.json"} {
		f.Add(read(f, name))
	}
	at, _ := url.Parse(rossoURL)
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, _, err := aam.ParseManifest(raw)
		if err != nil {
			return
		}
		if _, err := m.Locate(at); err != nil {
			return
		}
		for _, a := range m.Actions {
			if s := a.InputSchema(); !s.IsValid() {
				t.Fatalf("schema %s", s)
			}
			_ = a.Check(ahp.Value(`{"a":1}`))
		}
		if link, err := m.SignIn("v", "", nil); err == nil && !strings.HasPrefix(link.URL, "https://") {
			t.Fatalf("link %q", link.URL)
		}
	})
}
