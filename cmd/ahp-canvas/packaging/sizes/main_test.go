package main

import (
	"debug/elf"
	"maps"
	"testing"
)

// TestSizes divides a program: a module has its symbols and a part of the tables, and what is
// left is the rest.
func TestSizes(t *testing.T) {
	p := program{
		code:   []elf.Symbol{{Name: "a.example/x.F", Size: 30}, {Name: "a.example/x/y.F", Size: 6}, {Name: "runtime.main", Size: 4}, {Name: "go:textfipsstart", Size: 9}},
		data:   []elf.Symbol{{Name: "a.example/xz.G", Size: 2}, {Name: "go:string.*", Size: 9}, {Name: "type:*", Size: 9}, {Name: "runtime.pclntab", Size: 9}},
		tables: 20, total: 100,
	}
	want := map[string]float64{"a.example/x": 45, "a.example/x/y": 9, "Go standard library and runtime": 8, rest: 38}
	if got := p.sizes([]string{"a.example/x", "a.example/x/y"}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
