// Package packaging holds what a release needs besides the program: the configuration of
// goreleaser, services, container files, a dashboard and alerts. It has no code. Its tests
// check that the files agree with each other and with the program.
package packaging
