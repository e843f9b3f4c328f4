package aam_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// TestLaterVersion reads a manifest of 0.1.x, and keeps members that it does not know.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	m, warnings, err := parse(t, rosso(t, `"aam_version": "0.1"`, `"aam_version": "0.1.3", "future": {"a": 1}`), rossoURL)
	if err != nil || len(warnings) != 0 || m.Version != "0.1.3" {
		t.Fatalf("%v, %v", warnings, err)
	}
	if out := string(ahp.MustMarshal(m)); !strings.Contains(out, `"future":{"a":1}`) {
		t.Errorf("written: %s", out)
	}
}

// TestOptional: a parameter can say in two ways that it is not required.
func TestOptional(t *testing.T) {
	t.Parallel()
	for _, member := range []string{`"optional": true`, `"required": false`} {
		m, _, err := parse(t, rosso(t, `"max": 12`, `"max": 12, `+member), rossoURL)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(m.Actions[0].InputSchema()); !strings.Contains(s, `"required":["date","time"]`) {
			t.Errorf("%s: schema %s", member, s)
		}
		if err := m.Actions[0].Check(ahp.Value(`{"date":"2026-05-02","time":"19:00"}`)); err != nil {
			t.Errorf("%s: %v", member, err)
		}
	}
}

// TestPlaceholders: {site} is the manifest's domain, and scopes have the names that the proof
// gives to actions.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	m, _, err := parse(t, rosso(t, `"required": true`, `"required": true, "accepted_identity_proofs":[{"type":"aam_id","issuer":"https://id.example",`+
		`"connect_url_pattern":"https://id.example/c?a={agent}&s={scopes}&at={site}","scope_names":{"book:table":"make_reservation"}}]`), rossoURL)
	if err != nil {
		t.Fatal(err)
	}
	for want, actions := range map[string][]string{"book%3Atable": {"make_reservation"}, "check_availability%2Cbook%3Atable": nil} {
		link, err := m.SignIn("phone.example", "", actions)
		if err != nil || link.URL != "https://id.example/c?a=phone.example&s="+want+"&at=caferosso.com" {
			t.Errorf("%v: %s, %v", actions, link.URL, err)
		}
	}
}

// TestTokenNames: sites name the token in three ways, and its end in two.
func TestTokenNames(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	m := e.manifest(t)
	for _, name := range []string{"access_token", "agent_token", "token"} {
		for _, end := range []string{`"expires_in":3600`, fmt.Sprintf(`"expires_at":%q`, time.Now().Add(time.Hour).Format(time.RFC3339))} {
			if err := e.Forget(m, e.at, "maria"); err != nil {
				t.Fatal(err)
			}
			e.site.handle("/api/aam/token", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{%q:%q,%s}`, name, token, end) })
			e.signIn(t, m)
			in, ok := e.SignedInAt(m, e.at, "maria")
			if left := time.Until(in.Expires); !ok || left < 30*time.Minute || left > 61*time.Minute {
				t.Errorf("%s, %s: %+v, %v", name, end, in, ok)
			}
		}
	}
	for _, body := range []string{`{}`, `{"token":""}`, `{"token":"a b"}`, `{"token":7}`, `[]`} {
		if err := e.Forget(m, e.at, "maria"); err != nil {
			t.Fatal(err)
		}
		e.site.handle("/api/aam/token", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		if _, err := e.Exchange(t.Context(), m, e.at, "maria", "KQ7F-M2XW"); err == nil || len(e.vault.List()) != 0 {
			t.Errorf("%s is a token: %v", body, err)
		}
	}
}

// TestManifestLimits: a manifest with too much, or with another method, is refused at its
// place; an action that is required and does not exist is a warning.
func TestManifestLimits(t *testing.T) {
	t.Parallel()
	var params []string
	for n := range 65 {
		params = append(params, fmt.Sprintf(`"p%d":"string"`, n))
	}
	proof := `{"type":"aam_id"}`
	for _, c := range []struct{ old, new, path string }{
		{`"id": "make_reservation"`, `"id": "make_reservation", "method": "DELETE"`, "/actions/1/method"},
		{`"actions": [`, `"actions": [{"id":"many","params":{` + strings.Join(params, ",") + `}},`, "/actions/0/params"},
		{`"required": true`, `"accepted_identity_proofs":[` + proof + strings.Repeat(","+proof, 32) + `]`, "/auth/accepted_identity_proofs"},
	} {
		_, _, err := parse(t, rosso(t, c.old, c.new), rossoURL)
		if e, ok := errors.AsType[*aam.Error](err); !ok || e.Code != aam.CodeManifestInvalid || e.Path != c.path {
			t.Errorf("%.60s: %v", c.new, err)
		}
	}
	_, warnings, err := parse(t, rosso(t, `"required": true`, `"required_for":["pay_all"]`), rossoURL)
	if err != nil || len(warnings) != 1 || warnings[0].Path != "/auth/required_for" {
		t.Errorf("an action that does not exist: %v, %v", warnings, err)
	}
}

// TestRules: RULES.md has every rule and every threat with tests, and every test that it names exists
// in the package that it names.
func TestRules(t *testing.T) {
	t.Parallel()
	all := ahptest.ReadRules(t, map[string]string{
		"x402": "x402", "aamid": "aamid", "issuer": "aamid/issuer", "site": "site", "canvas": "aamcanvas", "outbound": "../../outbound",
		"cmd": "../../../cmd/ahp-canvas/internal/aamcmd", "serve": "../../../cmd/ahp-canvas/internal/serve", "program": "../../../cmd/ahp-canvas/internal/programtest",
	})
	for heading, count := range map[string]int{"Rules": 38, "Threats": 20} {
		rules := all.Section(heading)
		for n := 1; n <= count; n++ {
			if !rules.Tested(fmt.Sprint(n)) {
				t.Errorf("%s: number %d has no test", heading, n)
			}
		}
	}
}
