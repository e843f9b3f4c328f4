package main

import (
	"debug/elf"
	"maps"
	"testing"
)

func TestByModule(t *testing.T) {
	symbols := []elf.Symbol{{Name: "a.example/x.F", Size: 30}, {Name: "a.example/x/y.F", Size: 7}, {Name: "a.example/xz.G", Size: 2}, {Name: "runtime.main", Size: 4}, {Name: "go:string.*", Size: 9}}
	want := map[string]uint64{"a.example/x": 30, "a.example/x/y": 7, "Go standard library and runtime": 6}
	if got := byModule(symbols, []string{"a.example/x", "a.example/x/y"}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
