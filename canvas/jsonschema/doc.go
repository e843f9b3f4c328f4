// Package jsonschema holds inputs against declared JSON Schemas, at a bounded cost.
//
// A schema comes from a provider, so it is hostile until compiled: references lead
// nowhere outside the schema, and what a schema costs to compile and to check is counted
// (cost.go). A small schema can be expensive: references that each name two others are
// followed forever, and nested repetitions in a pattern take gigabytes. Patterns
// are ECMAScript, translated to RE2, whose time is linear (ecma.go). A pattern that RE2
// cannot express is not enforced; the rest of its schema is.
//
// A schema that cannot be checked, such as one with a $dynamicRef, is accepted and not
// enforced: only its size and its type can refuse it.
//
// Compiled schemas are dropped when they take too much memory, and compiled again when
// they are applied ([Memory]).
//
// The package imports ahp, ahp/budget and santhosh-tekuri/jsonschema.
package jsonschema
