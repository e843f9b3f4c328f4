// Package sampletest is the browser in the tests of bundled canvases: a running
// host with one canvas ([Bench]) and pages that show it ([Page]). [Declared] needs no
// browser.
//
// It is a test kit: nothing but tests imports it.
package sampletest
