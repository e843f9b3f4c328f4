package main

import "testing"

func TestCells(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "ünï": 3, "u\u0308": 1, "看板": 4, "ｱ": 1, "Ａ": 2, "🦊": 2, "a\u200bb": 2, "한글": 4,
		"👨\u200d👩\u200d👧": 2, "≠│…": 3,
	} {
		if got := cells(text); got != want {
			t.Errorf("%q: %d cells, want %d", text, got, want)
		}
	}
}
