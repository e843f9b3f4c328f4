package main

import (
	"maps"
	"testing"
)

func TestBySize(t *testing.T) {
	symbols := "  4b 30 T a.example/x.F\n  4b 7 T a.example/x/y.F\n  4b 2 R a.example/xz.G\n  4b 9 B a.example/x.zeroed\n  4b 4 T runtime.main\n         U puts\n"
	want := map[string]int{"a.example/x": 30, "a.example/x/y": 7, "the Go standard library and runtime": 6}
	if got := bySize(symbols, []string{"a.example/x", "a.example/x/y"}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
