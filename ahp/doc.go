// Package ahp is the vocabulary of the Agent Host Protocol: methods, actions,
// envelopes, errors and versions. It is also the one place where JSON is decoded
// and encoded.
//
// The package is pure data, without sockets, locks and goroutines. It imports the
// standard library, one JSON library (behind json.go) and ahp/scan. Names are the
// protocol's. ahp/PROTOCOL.md says what this host does where AHP leaves a choice.
//
// # What it promises
//
//   - Untrusted bytes are decoded strictly. Member names are case-sensitive. A
//     duplicate member, invalid UTF-8 and a missing required member are errors
//     that name the place. A struct field is required unless its tag has omitzero
//     or omitempty.
//   - A type with an Extra field keeps members that it does not know. Raw values
//     keep every digit of their numbers.
//   - A method is a typed value ([Method]), an action is a row of a table
//     ([ActionTable]). Decoding, permissions, version gates, schemas and coverage
//     tests read the same rows.
//   - An [Error] keeps its code when it is wrapped. [ToError] is the only way from
//     a Go error to the wire.
//
// The base is AHP 0.5.1. The Canvas methods and actions are those of the Canvas
// proposal (#297), version 0.6.0.
package ahp
