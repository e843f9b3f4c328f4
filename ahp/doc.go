// Package ahp is the vocabulary of the Agent Host Protocol: methods, actions,
// envelopes, errors, versions and the one place where JSON is read and written.
//
// It is pure data. It knows no socket, no lock and no goroutine, imports the
// standard library, one JSON library (behind json.go) and ahp/scan, and everything
// above it speaks in its types. Names are the protocol's own.
//
// # What it promises
//
//   - Untrusted bytes are decoded strictly: member names match by case, a
//     duplicate member or invalid UTF-8 is an error, and a required member that
//     is missing is named in the error. A struct field whose tag has neither
//     omitzero nor omitempty is required; nothing else says so a second time.
//   - Members that a type does not know are kept where the type has an Extra
//     field, and numbers inside raw values keep every digit.
//   - A method is a typed value ([Method]), an action is a row of a table
//     ([ActionTable]). Decoding, permission, version gate, schemas and coverage
//     tests all read the same rows.
//   - An [Error] keeps its code through any wrapping; [ToError] is the only way
//     from a Go error to the wire.
//
// The protocol base is AHP 0.5.1; the Canvas surface is the proposal's 0.6.0.
package ahp
