// Package licenses holds the command licenses, which prints the licenses of the Go
// modules in the program.
//
// # What it promises
//
//   - The text is what the modules themselves have, for Linux, macOS and Windows. A
//     program in generate collects it from the module cache; a test fails if it is stale.
//
// It imports package term.
package licenses

//go:generate go run ./generate third_party.licenses
