// Package check holds what providers, agents and Views send against a host's limits:
// declarations and their schemas, inputs, values, messages, texts and URLs. It is pure:
// it keeps nothing and asks nobody.
//
// The engine uses it for everything that it is given, and the linter of canvas folders
// for what a host would refuse.
//
// The package imports canvas, canvas/jsonschema, session and ahp.
package check
