// Package check checks what providers, agents and Views send against a host's limits:
// declarations and their schemas, inputs, values, messages, texts and URLs. It keeps no
// state.
//
// The engine checks everything that it receives with it. The linter of canvas folders
// uses it to report what a host would reject.
//
// The package imports canvas, canvas/jsonschema, session and ahp.
package check
