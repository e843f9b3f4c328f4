// Package hosttest serves a host for the length of a test, as the tests of this
// project do and those of a program that embeds one may.
//
// It is a test kit: it imports canvas/host, and nothing but tests and test kits
// imports it.
package hosttest
