package schema_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/schema"
)

func ExampleGenerate() {
	files, err := schema.Generate("..")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Println(name)
	}
	fmt.Println(schema.ID("bundle"))
	// Output:
	// REFERENCE.md
	// actions.json
	// bridge.json
	// bundle.json
	// commands.json
	// errors.json
	// kotlin/Ahp.kt
	// notifications.json
	// rust/ahp.rs
	// state.json
	// swift/AHP.swift
	// https://github.com/ahp-canvas/ahp-canvas/schema/0.6.0/bundle.json
}
