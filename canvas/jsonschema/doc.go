// Package jsonschema holds inputs against declared JSON Schemas, at a bounded cost.
//
// A schema comes from a provider, so it is hostile until compiled: references lead
// nowhere outside the schema, patterns are RE2, and what a schema costs to compile
// and to check is counted (cost.go). A small schema can be expensive: references
// that each name two others are followed forever, and nested repetitions in a
// pattern take gigabytes. $dynamicRef and $recursiveRef are refused.
//
// The package imports ahp and santhosh-tekuri/jsonschema.
package jsonschema
