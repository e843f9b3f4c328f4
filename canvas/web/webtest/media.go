package webtest

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// EmulateMedia shows the page as on a medium ("print"; "" for the screen) with media
// features, given as name and value in turn, such as "forced-colors", "active". It replaces
// what was emulated before. Chromium only.
func (p *Page) EmulateMedia(t testing.TB, medium string, features ...string) {
	t.Helper()
	params := emulation.SetEmulatedMediaParams{Media: medium}
	for i := 0; i+1 < len(features); i += 2 {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	p.devTools(t, "emulate media", func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, params)
		return err
	})
}
