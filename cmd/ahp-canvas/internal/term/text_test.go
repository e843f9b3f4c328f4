package term

import (
	"slices"
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "ünï": 3, "u\u0308": 1, "看板": 4, "ｱ": 1, "Ａ": 2, "🦊": 2, "a\u200bb": 2, "한글": 4,
		"👨\u200d👩\u200d👧": 2, "≠│…": 3,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		words, want string
	}{
		{"", ""},
		{"one", "one"},
		{"one two2 three", "one, two2,|three"},
		{"much_too_long_a_word two", "much_too_long_a_word,|two"},
	} {
		first, more := Wrap(strings.Fields(tc.words), 10)
		if got := strings.Join(append([]string{first}, more...), "|"); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.words, got, tc.want)
		}
	}
}

func TestSplitAndFold(t *testing.T) {
	for _, tc := range []struct {
		name      string
		got, want []string
	}{
		{"empty", Split("", 3), []string{""}},
		{"anywhere", Split("abcdefg", 3), []string{"abc", "def", "g"}},
		{"wide", Split("看板板", 3), []string{"看", "板", "板"}},
		{"nothing", Fold(" ", 8), nil},
		{"words", Fold("one two three", 8), []string{"one two", "three"}},
		{"a long word", Fold("a muchtoolongword b", 8), []string{"a", "muchtool", "ongword", "b"}},
		{"cut", []string{Cut("abcd", 4), Cut("abcde", 4), Cut("看板板", 4)}, []string{"abcd", "abc…", "看…"}},
		{"pad", []string{Pad("看", 4), Pad("abcde", 4)}, []string{"看  ", "abcde"}},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, tc.got, tc.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"a/b-c.d": "a/b-c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'"} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
