package webtest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// ClickAt presses the mouse at a point of the window, in CSS pixels, and lets it
// go there: also in a frame within a frame.
func (p *Page) ClickAt(t testing.TB, x, y float64) {
	t.Helper()
	p.do(t, "click", chromedp.MouseClickXY(x, y))
}
