package relay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzDecode decodes what a peer can send on a control connection. A decoded
// message survives encoding and decoding.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"type":"register","generation":7}`, `{"type":"registered"}`, `{"type":"lane","lane":"a1","secret":"s","edge":"wss://e/"}`,
		`{"type":"decline","lane":"a1"}`, `{"type":"drain"}`, `{"type":"open","subject":"ann","clientId":"c"}`, `{"type":"lane"}`, `{}`, `[]`, `{"type":"x","type":"y"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(data)
		if err != nil {
			return
		}
		if m.Type == typeLane && (!ValidName(m.Lane) || m.Secret == "") || m.Type == typeRegister && m.Generation <= 0 {
			t.Errorf("taken: %+v", m)
		}
		again, err := decode(m.encode())
		if err == nil && again != m || err != nil && len(m.encode()) <= messageLimit {
			t.Errorf("%+v is not %+v, %v", again, m, err)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"register","generation":0}`:            "lacks a valid",
		`{"type":"register","generation":-1}`:           "lacks a valid",
		`{"type":"lane","lane":"../host","secret":"s"}`: "lacks a valid",
		`{"type":"lane","lane":"a"}`:                    "lacks a valid",
		`{"type":"decline"}`:                            "lacks a valid",
		`{"generation":7}`:                              "type",
		`{"type":"drain","type":"lane"}`:                "duplicate",
		`{"type":7}`:                                    "want",
		`"` + strings.Repeat("x", messageLimit) + `"`:   "above the limit",
	} {
		if _, err := decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
	if m, err := decode([]byte(`{"type":"new","and":{"other":"things"}}`)); err != nil || m.Type != "new" {
		t.Errorf("a later release's message: %+v, %v", m, err)
	}
}

// FuzzParseTokens parses token files. A valid file survives encoding and
// parsing, and no entry matches the empty token.
func FuzzParseTokens(f *testing.F) {
	_, row := Mint(TokenEntry{Audience: ForHost, Subject: "laptop", Hosts: []string{"laptop"}})
	f.Add(TokenFile{Tokens: []TokenEntry{row}}.Encode())
	f.Add([]byte(`{"tokens":[]}`))
	f.Add([]byte(`{"tokens":[{"sha256":"","audience":"client","subject":"","hosts":["*"],"expires":"2026-01-01T00:00:00Z"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseTokens(data)
		if err != nil {
			return
		}
		for _, row := range file.Tokens {
			if row.SHA256 == hash("") || len(row.SHA256) != 64 || len(row.Hosts) == 0 || row.Subject == "" {
				t.Errorf("taken: %+v", row)
			}
		}
		again, err := ParseTokens(file.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(file, again); diff != "" {
			t.Error(diff)
		}
	})
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "laptop": true, "7": true, "a.b_c-d": true, strings.Repeat("a", 63): true,
		"": false, "A": false, ".": false, "..": false, "-a": false, "_a": false, "a/b": false, "a b": false, "ä": false, "a%2f": false, "a\n": false, strings.Repeat("a", 64): false,
	} {
		if ValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
