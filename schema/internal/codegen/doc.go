// Package codegen writes the definitions of package schema as types of other languages:
// Rust, Kotlin and Swift.
//
// # Guarantees
//
//   - Unknown members are kept, absent and null differ, and numbers of opaque values keep
//     their digits (in Swift, 38 of them).
//   - A union is read by its tag. A tag or an enumeration value of a later version is kept.
//   - The same definitions give the same bytes.
//
// What a host checks beyond the types (lengths, patterns, which state or action a channel
// carries) is not in them.
//
// It imports only the library in which package schema keeps its definitions.
package codegen
