// Package jsonschema holds inputs against declared JSON Schemas, at a bounded cost.
//
// A schema comes from a provider, so it is hostile until compiled: references lead
// nowhere outside the schema, and what a schema costs to compile and to check is counted
// (cost.go). A small schema can be expensive: references that each name two others are
// followed forever, and nested repetitions in a pattern take gigabytes. A pattern is
// matched by RE2 if RE2 can read it, otherwise as ECMAScript in a bounded time
// (pattern.go).
//
// A schema that cannot be checked, such as one with a $dynamicRef, is accepted and not
// enforced: only its size and its type can refuse it.
//
// The package imports ahp, santhosh-tekuri/jsonschema and dlclark/regexp2.
package jsonschema
