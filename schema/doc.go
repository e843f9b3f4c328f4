// Package schema generates descriptions of the protocol for other languages: JSON
// Schema 2020-12 files and a reference. It generates them from the tables that the
// host itself uses (methods, actions, errors, states). README.md explains how to
// use the files; cmd/ahp-schema writes them. Package codegen writes the definitions as
// Rust, Kotlin and Swift types; TypeScript comes from the bundle (proof/typescript.mjs).
//
// # Guarantees
//
//   - A new row of a table appears in the files automatically. What tables cannot
//     express (a union in a struct, a length, a pattern) is in rules.go and
//     unions.go. A rule that matches nothing is an error.
//   - Every reference resolves. The members of every union are identified by a
//     const member. Objects are open, because unknown members are part of the
//     protocol.
//   - A member is required if its Go tag has neither omitzero nor omitempty. It can
//     be null only if its Go type distinguishes null from absent (ahp.Field) or is
//     opaque (ahp.Value).
//   - The same sources generate the same bytes.
//   - Enumerations are closed: a value of a later version is refused, as its
//     actions are.
//   - Descriptions are the Go doc comments. A limit in bytes appears as a limit in
//     code points, because JSON Schema cannot count bytes.
//
// Comments and the constants of string types are read from the Go sources, since
// the compiler keeps neither. So generating needs the module's folder.
//
// The schema of http/1 is written by hand in canvas/bridge. This package reads it
// and makes its definitions self-contained. Only cmd/ahp-schema imports this
// package, because it links a reflection library.
package schema
