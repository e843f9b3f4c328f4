// Package demo has the provider of the extensions "demo" and "other" that
// transcripts use (testcases/README.md): a counter of which each action is
// something that a provider can do. A host built for tests registers it.
//
// A Provider has no state. Each instance has its own number, which is lost when
// the instance closes.
package demo
