package site_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

func failAction(context.Context, site.Call) (ahp.Value, error) { return nil, errors.New("it failed") }

// described is an executor whose actions change.
type described struct {
	*env
	off bool
}

// Describe implements site.Describer.
func (d *described) Describe(a site.Action) (string, ahp.Value, bool) {
	return "live: " + a.ID, ahp.Value(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}`), !d.off
}

// golden is a manifest as the package publishes it, with both kinds of proof.
const golden = "testdata/manifest.golden.json"

// TestManifestGolden: the manifest is delegated_oauth with per_site_consent and aam_id, in
// the form that the client half reads without a warning.
func TestManifestGolden(t *testing.T) {
	t.Parallel()
	c := site.Config{
		Origin: "https://caferosso.example", Site: site.Info{Name: "Cafe Rosso", Domain: "caferosso.example", Description: "A small restaurant."},
		Actions: []site.Action{
			{ID: "check_availability", Description: "Are there free tables?", Public: true, Input: ahp.Value(`{"type":"object","properties":{"date":{"type":"string","format":"date"},"party_size":{"type":"integer","minimum":1,"maximum":12}},"required":["date","party_size"],"additionalProperties":false}`)},
			{ID: "make_reservation", Description: "Reserves a table.", Pricing: priced, Input: ahp.Value(`{"type":"object","properties":{"name":{"type":"string"},"guests":{"type":"array","items":{"type":"string"}}},"required":["name"],"additionalProperties":false}`)},
		},
		Identity: []site.Identity{{Issuer: "https://id.example", JWKSURL: "https://id.example/.well-known/aam-jwks.json", ConnectURLPattern: "https://id.example/id/connect?agent={agent}&scopes={scopes}&site={site}", Scopes: map[string]string{"book:table": "make_reservation"}, Anyone: true}},
		Settle:   &site.Settle{Facilitator: "https://facilitator.example"},
	}
	s, err := site.New(c, site.Func(failAction), nil, site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v := ahp.Value(s.Manifest())
	if err := v.Indent(); err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(golden)
	if got := append(v, '\n'); !bytes.Equal(got, want) {
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Errorf("the manifest differs from %s (UPDATE=1 writes it):\n%s", golden, got)
	}
	m, warnings, err := aam.ParseManifest(want)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("our own client: %v %v", warnings, err)
	}
	if m.Auth.Type != aam.DelegatedOAuth || !m.NeedsAuth("make_reservation") || m.NeedsAuth("check_availability") || len(m.Auth.Proofs) != 2 || m.Auth.Proofs[1].Type != aam.ProofPerSite {
		t.Errorf("the manifest as our client reads it: %+v", m.Auth)
	}
}

// TestManifestLive: descriptions and schemas are those of now, an action that cannot be run
// is left out, and a copy is revalidated.
func TestManifestLive(t *testing.T) {
	t.Parallel()
	d := &described{}
	d.env = start(t)
	s, err := site.New(site.Config{Origin: d.url, Site: site.Info{Name: "x", Domain: "x.example"}, Actions: []site.Action{{ID: "a"}, {ID: "b", Description: "own words"}}}, d, nil, site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := string(s.Manifest()); !strings.Contains(got, `"description":"live: a","pricing":"free","params":{"n":{"type":"integer","min":1}}`) || !strings.Contains(got, `"description":"own words"`) {
		t.Error(got)
	}
	d.off = true
	if got := string(s.Manifest()); !strings.Contains(got, `"actions":[]`) {
		t.Error(got)
	}
	first := d.send("GET", site.PathManifest, "", nil)
	if first.status != 200 || first.header.Get("Cache-Control") != "max-age=300" || first.header.Get("Etag") == "" || first.body != d.send("GET", "/api/aam/manifest", "", nil).body {
		t.Errorf("%d %v", first.status, first.header)
	}
	if got := d.send("GET", site.PathManifest, "", map[string]string{"If-None-Match": first.header.Get("Etag")}); got.status != 304 || got.body != "" {
		t.Errorf("with a copy: %d", got.status)
	}
}

// TestTextIsText: names with markup and direction characters are shown as text.
func TestTextIsText(t *testing.T) {
	t.Parallel()
	e := start(t, func(c *site.Config, _ *site.Options) {
		c.Site.Name = "<b>\u202eevil\u2066" + strings.Repeat("a", 10_000)
		c.Actions[0].Description = "<script>alert(1)</script>\x1b[2J" + strings.Repeat("b", 10_000)
	})
	got := e.send("GET", site.PathAuthorize+"?vendor="+vendor, "", nil)
	if strings.ContainsAny(got.body, "\u202e\u2066\x1b") || strings.Contains(got.body, "<script>") || strings.Contains(got.body, "<b>") || len(got.body) > 4096 {
		t.Errorf("%d bytes: %.2000s", len(got.body), got.body)
	}
}

// FuzzConfig: whatever a file says, it is refused or starts a site that has a manifest.
func FuzzConfig(f *testing.F) {
	f.Add(`{"origin":"https://a.example","site":{"name":"a","domain":"a.example"},"actions":[{"id":"a","pricing":"free"}]}`)
	f.Add(`{"origin":"http://127.0.0.1:1","site":{"name":"a","domain":"a"},"settle":{"later":"1m"},"actions":[{"id":"a","pricing":{"type":"x402","amount":"0.05","currency":"USDC","network":"base","pay_to":"` + payTo + `"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := site.ParseConfig([]byte(text))
		if err != nil {
			return
		}
		s, err := site.New(c, site.Func(failAction), nil, site.Options{})
		if err != nil {
			return
		}
		defer s.Close()
		if _, _, err := aam.ParseManifest(s.Manifest()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}
