package webtest

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Frames returns the frames of other sites in the tab that a url matches; n is
// how many to wait for.
func (p *Page) Frames(t testing.TB, n int, match func(*url.URL) bool) []*Page {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	for {
		infos, err := chromedp.Targets(ctx)
		if err != nil {
			t.Fatalf("frames: %v", err)
		}
		if ids := matching(infos, chromedp.FromContext(p.ctx).BrowserContextID, match); len(ids) >= n {
			return p.attach(t, ids)
		}
		// The page is asked for nothing: this is only a wait that ends with it.
		if _, err := eval[bool](p, "new Promise((r) => setTimeout(() => r(true), "+pollMillis+"))"); err != nil {
			t.Fatalf("frames: %v", err)
		}
		if ctx.Err() != nil {
			t.Fatalf("there are no %d such frames", n)
		}
	}
}

func matching(infos []*target.Info, tab cdp.BrowserContextID, match func(*url.URL) bool) []target.ID {
	var ids []target.ID
	for _, i := range infos {
		u, err := url.Parse(i.URL)
		if i.Type == "iframe" && i.BrowserContextID == tab && err == nil && match(u) {
			ids = append(ids, i.TargetID)
		}
	}
	return ids
}

func (p *Page) attach(t testing.TB, ids []target.ID) []*Page {
	t.Helper()
	var frames []*Page
	for _, id := range ids {
		ctx, stop := chromedp.NewContext(p.ctx, chromedp.WithTargetID(id))
		t.Cleanup(stop)
		frames = append(frames, attached(t, ctx, stop))
	}
	return frames
}

// attached opens the tab now: it would otherwise live as long as the first step.
func attached(t testing.TB, ctx context.Context, stop context.CancelFunc) *Page {
	t.Helper()
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("attach: %v", err)
	}
	return &Page{ctx, stop}
}

// At matches frames of a web origin.
func At(origin string) func(*url.URL) bool {
	return func(u *url.URL) bool { return u.Scheme+"://"+u.Host == origin }
}

// ContentFrame matches the outer frames of mounted canvases.
func ContentFrame(u *url.URL) bool {
	return strings.HasPrefix(u.Host, "c-") && u.Path == "/.ahp/frame.html"
}
