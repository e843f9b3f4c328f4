// Command ahp-schema writes the generated files of package schema.
//
//	ahp-schema DIR     writes into DIR/schema; DIR is the module's folder
package main
