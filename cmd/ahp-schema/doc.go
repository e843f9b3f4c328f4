// Command ahp-schema generates the files of package schema: JSON Schemas and
// REFERENCE.md.
//
// Usage:
//
//	ahp-schema DIR
//
// DIR is the module's folder; the files are written to DIR/schema.
package main
