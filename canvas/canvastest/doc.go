// Package canvastest holds what providers of canvases are tested with: a host
// without a wire ([Host]), Views that keep what they hear ([View]), and a suite
// that every provider must pass ([TestProvider]), as testing/fstest has one for
// file systems.
//
// It is a test kit: it imports canvas, session, channels and ahp, and nothing but
// tests imports it.
package canvastest
