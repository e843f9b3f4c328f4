package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestListHasPages checks that the pages of a list have every session once, in the order
// of the whole list, and that a list without a limit has pages if it is large.
func TestListHasPages(t *testing.T) {
	b := newBench(t, session.Options{})
	long := strings.Repeat("x", 1900)
	for n := range 700 {
		if err := b.svc.Ensure(fmt.Sprintf("ahp-session:/%s%d", long, n), "title"); err != nil {
			t.Fatal(err)
		}
	}
	for name, p := range map[string]session.ListSessionsParams{"limit": {Limit: new(90)}, "size": {}} {
		var all []string
		pages := 0
		for {
			r, err := b.svc.ListSessions(t.Context(), nil, p)
			if err != nil {
				t.Fatal(err)
			}
			pages++
			for _, s := range r.Items {
				all = append(all, s.Resource)
			}
			if size := len(ahp.MustMarshal(r)); size > 1<<20+4096 || p.Limit != nil && len(r.Items) > *p.Limit {
				t.Errorf("%s: a page has %d sessions in %d bytes", name, len(r.Items), size)
			}
			if p.Cursor = r.NextCursor; p.Cursor == nil {
				break
			}
		}
		slices.Sort(all)
		if n := len(slices.Compact(slices.Clone(all))); n != len(all) || n != 700 || pages < 2 {
			t.Errorf("%s: %d sessions, %d different ones, on %d pages", name, len(all), n, pages)
		}
	}
	bad := "bm90IG9uZQ"
	if _, err := b.svc.ListSessions(t.Context(), nil, session.ListSessionsParams{Cursor: &bad}); ahp.ToError(err).Code != ahp.CodeInvalidParams {
		t.Errorf("a cursor of another host: %v", err)
	}
}
