// Package canvastest helps to test providers of canvases. [TestProvider] is a suite
// that every provider must pass, as testing/fstest has one for file systems. [Host] is a
// host without connections, and [View] collects the actions that a View receives.
//
// It is a test kit: it imports canvas, session, channels and ahp, and nothing but
// tests imports it.
package canvastest
