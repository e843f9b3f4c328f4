package jsonschema

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestPatternsAreECMAScript: what each pattern matches and does not match, as
// RegExp.prototype.test has it. "!" before a text means no match.
func TestPatternsAreECMAScript(t *testing.T) {
	for pattern, texts := range map[string][]string{
		`^(?!/)`:                       {"a", "", "!/a", "a/"},
		`^(?!\/)[^\\]+$`:               {"a/b", "!/a", `!a\b`},
		`^(?=.*[A-Z])(?=.*\d).{4,}$`:   {"Abc1", "!abc1", "!Abcd", "!A1"},
		`^(?!(a|b)$).*$`:               {"c", "ab", "!a", "!b"},
		`^\s+$`:                        {"\u00a0\ufeff\u2028\v", "!\u0085", "! a"},
		`^\S$`:                         {"a", "\u0085", "!\u3000"},
		`^[\S]$`:                       {"é", "!\ufeff"},
		`^[\s\d]+$`:                    {"1\u00a02", "!x"},
		`^.$`:                          {"é", "!\n", "!\r", "!\u2028"},
		`^[^]$`:                        {"\n", "a", "!"},
		`[]`:                           {"!", "!a"},
		`^\u0041\x42\cJ\0$`:            {"AB\n\x00"},
		`^\u{1F600}\ud83d\ude00$`:      {"😀😀"},
		`^[[:alpha:]]+$`:               {"a]", ":]", "!b]"},
		`^[a\-z&&~]+$`:                 {"a-z&~", "!b"},
		`^\A\z\Q$`:                     {"AzQ"},
		`^a\-\/\$$`:                    {"a-/$"},
		`^\p{Letter}\p{Script=Greek}$`: {"xλ", "!λx"},
		`a$`:                           {"ba", "!a\n"},
		`^(?<year>\d{4})$`:             {"2026", "!26"},
		`[\b]`:                         {"\b", "!b"},
		`^(?!a|b)c`:                    {"c", "!a"},
		`^é[ü-ÿ]$`:                     {"éý", "!éa"},
	} {
		parts, err := translate(pattern)
		m := compileParts(parts)
		if err != nil || m == nil {
			t.Errorf("%s: %v, %v", pattern, parts, err)
			continue
		}
		for _, text := range texts {
			want := text == "" || text[0] != '!'
			if !want {
				text = text[1:]
			}
			if m.matches(text) != want {
				t.Errorf("%s as %v: %q matches: %v", pattern, parts, text, !want)
			}
		}
	}
}

// TestPatternsThatAreNotEnforced: the rest of their schema is, unless a keyword would turn
// a pattern that matches everything into a refusal.
func TestPatternsThatAreNotEnforced(t *testing.T) {
	for _, pattern := range []string{`a(?!b)`, `(?<=a)b`, `(?<!a)b`, `(a)\1`, `(?<n>a)\k<n>`, `^(?!a)b|c`, `^(?=a)*b`, `(?i)a`, `(?P<n>a)`, `a{1001}`, `(`, `\`, `[a`, `^(?!a`, `\ud800`, `\x4`, `\p{No_Such}`} {
		text := ahp.MustMarshal(pattern)
		for schema, partial := range map[string]bool{
			`{"properties":{"a":{"pattern":` + string(text) + `},"n":{"type":"integer"}}}`:                    true,
			`{"properties":{"a":{"pattern":` + string(text) + `},"n":{"type":"integer"}},"not":{"$ref":"#"}}`: false,
			`{"patternProperties":{` + string(text) + `:{}},"properties":{"n":{"type":"integer"}}}`:           false,
		} {
			var set Set
			s, err := set.Compile(ahp.Value(schema), Limits{Bytes: 64 << 10, Depth: 32})
			if err != nil {
				t.Fatal(err)
			}
			if (s.Partial() != nil) != partial || (s.Unchecked() == nil) != partial {
				t.Errorf("%s: partial: %v, unchecked: %v", schema, s.Partial(), s.Unchecked())
			}
			if v := s.Check(ahp.Value(`{"a":"x","n":1}`)); v != nil {
				t.Errorf("%s: refuses a valid input: %v", schema, v)
			}
			if v := s.Check(ahp.Value(`{"n":"x"}`)); (v != nil) != partial {
				t.Errorf("%s: an invalid input: %v", schema, v)
			}
		}
	}
}
