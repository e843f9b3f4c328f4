package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	tab := table{head: []string{"A", "LONGER"}}
	tab.add("ünï", "x\x1b[31m")
	tab.add("看板", "wide")
	tab.add("", "last")
	var b strings.Builder
	tab.print(&b)
	want := "A     LONGER\nünï   x [31m\n看板  wide\n      last\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
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
		first, more := wrap(strings.Fields(tc.words), 10)
		if got := strings.Join(append([]string{first}, more...), "|"); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.words, got, tc.want)
		}
	}
}
