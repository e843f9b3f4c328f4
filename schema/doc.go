// Package schema writes what other languages need of this protocol: JSON Schema
// 2020-12 files and a reference, both generated from the tables that the host
// itself reads (methods, actions, errors, states). README.md says how to use the
// files; cmd/ahp-schema writes them.
//
// # What it promises
//
//   - A new row of a table appears in the files by itself. What no table can say
//     (a union inside a struct, a length, a pattern) stands in rules.go and
//     unions.go, and a rule that names nothing fails.
//   - Every reference resolves; every union is told apart by a const tag; objects
//     are open, for unknown members are part of the protocol.
//   - A member is required where its Go tag has neither omitzero nor omitempty,
//     and may be null only where its Go type tells null from absent (ahp.Field),
//     or is opaque (ahp.Value).
//   - Equal sources give equal bytes.
//
// # What it imports
//
// canvas, session, ahp and a reflection library, which is why nobody but
// cmd/ahp-schema imports this package. The schema of http/1 is the file that
// canvas/bridge wrote by hand: it is read, and cut into whole definitions.
//
// # Departures
//
// An enumeration of this version is closed: a value of a later one is unknown, as
// its actions are, and refused. The members' comments are the Go ones; a limit in
// bytes is one in code points here.
//
// Doc comments and the constants of string types are read from the Go sources
// (the compiler keeps neither), so generating needs the module's folder.
package schema
