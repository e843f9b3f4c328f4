// Package sampletest tests bundled canvases in a browser: a [Bench] is a running host
// with one open canvas, a [Page] is a tab that shows it. [Declared] needs no browser.
//
// Only tests import it.
package sampletest
