package aap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// TestRecordFile: rules 17 and 19: name, members, order and form of a record's file.
func TestRecordFile(t *testing.T) {
	at := time.Date(2026, 5, 18, 17, 30, 0, 999_000, time.FixedZone("", 2*3600))
	e := open(t, func(o *aap.Options) { o.Now = func() time.Time { return at } })
	e.submit(aap.Interaction{Action: "submit", Element: "a\nb", CanvasFile: "reports/dashboard.html", Data: ahp.Value(`{"z":1.0,"a":[]}`)})
	e.submit(aap.Interaction{Action: "click", CanvasFile: "p.html"})
	names := e.records()
	name := regexp.MustCompile(`^2026-05-18T15-30-00-00[01]Z-([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\.json$`)
	if len(names) != 2 || !name.MatchString(names[0]) || !name.MatchString(names[1]) {
		t.Fatalf("files %q", names)
	}
	id := name.FindStringSubmatch(names[0])[1]
	want := "{\n  \"id\": \"" + id + "\",\n  \"timestamp\": \"2026-05-18T15:30:00.000Z\",\n  \"canvasFile\": \"reports/dashboard.html\",\n  \"action\": \"submit\",\n" +
		"  \"element\": \"a\\nb\",\n  \"data\": {\n    \"z\": 1.0,\n    \"a\": []\n  },\n  \"summary\": \"User submit 'a b' on reports/dashboard.html with data: {\\\"z\\\":1.0,\\\"a\\\":[]}\"\n}"
	if got := e.file(names[0]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := e.file(names[1]); strings.Contains(got, "element") || strings.Contains(got, "data") {
		t.Errorf("what is absent is written: %s", got)
	}
	info, err := os.Stat(e.canvas("interactions/" + names[0]))
	parent, err2 := os.Stat(e.canvas("interactions"))
	if err := errors.Join(err, err2); err != nil || runtime.GOOS != "windows" && (info.Mode().Perm() != 0o600 || parent.Mode().Perm() != 0o700) {
		t.Errorf("modes %v and %v, %v", info.Mode(), parent.Mode(), err)
	}
}

// TestClock: rule 19: timestamps increase, also if the clock does not, and above the
// records of before; a record from far ahead does not count.
func TestClock(t *testing.T) {
	now := time.Date(2026, 5, 18, 15, 30, 0, 0, time.UTC)
	e := open(t, func(o *aap.Options) { o.Now = func() time.Time { return now } })
	e.page("interactions/2026-05-18T16-30-00-000Z-a.json", `{}`)
	e.page("interactions/2027-05-18T16-30-00-000Z-b.json", `{}`)
	e.page("interactions/zzz.json", `{}`)
	first, second := e.submit(click("")), e.submit(click(""))
	now = now.Add(-time.Hour)
	third := e.submit(click(""))
	got := []string{first.Timestamp, second.Timestamp, third.Timestamp}
	if want := []string{"2026-05-18T16:30:00.001Z", "2026-05-18T16:30:00.002Z", "2026-05-18T16:30:00.003Z"}; !slices.Equal(got, want) {
		t.Errorf("timestamps %q", got)
	}
}

// TestRef: rule 22: a ref is stored once, also if it comes twice at a time; 4,096 are
// remembered, and a failed one is not.
func TestRefIsStoredOnce(t *testing.T) {
	e := open(t, func(o *aap.Options) { o.Limits = aap.Limits{Rate: 1e6, Burst: 1e6} })
	in := click("x")
	in.Ref = "abc"
	var wg sync.WaitGroup
	ids := make([]string, 32)
	for n := range ids {
		wg.Go(func() { ids[n] = e.submit(in).ID })
	}
	wg.Wait()
	if names := e.records(); len(names) != 1 || len(slices.Compact(ids)) != 1 {
		t.Errorf("files %q, ids %q", names, slices.Compact(ids))
	}
	other := func(ref string) {
		in := click("x")
		in.Ref = ref
		e.submit(in)
	}
	for m := range 64 {
		wg.Go(func() {
			for n := m; n < 4095; n += 64 {
				other(fmt.Sprint(n))
			}
		})
	}
	wg.Wait()
	if e.submit(in).ID != ids[0] {
		t.Error("forgotten too early")
	}
	other("last")
	if e.submit(in).ID == ids[0] {
		t.Error("4,097 refs are remembered")
	}
}

// TestRate: rule 16, at the limit and above it, and only for one agent.
func TestRate(t *testing.T) {
	now := time.Now()
	e := open(t, func(o *aap.Options) {
		o.Now = func() time.Time { return now }
		o.Agents = map[string]string{"other": t.TempDir()}
	})
	for range 200 {
		e.submit(click(""))
	}
	in := click("")
	in.Ref = "r"
	if _, err := e.Submit(t.Context(), "auth", in); code(err) != "rate_limited" {
		t.Errorf("above the limit: %v", err)
	}
	if _, err := e.Submit(t.Context(), "other", click("")); err != nil {
		t.Errorf("another agent: %v", err)
	}
	now = now.Add(20 * time.Millisecond)
	if _, err := e.Submit(t.Context(), "auth", in); err != nil { // the refused ref is tried again
		t.Errorf("after a fiftieth of a second: %v", err)
	}
	if _, err := e.Submit(t.Context(), "auth", click("")); code(err) != "rate_limited" {
		t.Errorf("two in a fiftieth of a second: %v", err)
	}
}

// TestStorageFull: rule 16: the limit counts the records of before; it names the folder,
// and deletes nothing.
func TestStorageFull(t *testing.T) {
	e := open(t, func(o *aap.Options) { o.Limits.Records = 3 })
	e.page("interactions/2020-01-01T00-00-00-000Z-a.json", `{}`)
	e.submit(click(""))
	e.submit(click(""))
	_, err := e.Submit(t.Context(), agentID, click(""))
	if code(err) != "storage_full" || !strings.Contains(err.Error(), e.canvas("interactions")) || len(e.records()) != 3 {
		t.Errorf("%v, %d records", err, len(e.records()))
	}
}

// TestSubmitFailures: nothing is acknowledged that is not stored, no path is disclosed,
// and it works again afterwards.
func TestSubmitFailures(t *testing.T) {
	var log bytes.Buffer
	e := open(t, func(o *aap.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	e.page("interactions", "a file, not a folder")
	if _, err := e.Submit(t.Context(), agentID, click("")); code(err) != "internal_error" || strings.Contains(err.Error(), e.root) {
		t.Errorf("no folder: %v", err)
	}
	if err := os.Remove(e.canvas("interactions")); err != nil {
		t.Fatal(err)
	}
	e.submit(click("secret-element"))
	if strings.Contains(log.String(), e.root) || strings.Contains(log.String(), "secret-element") || !strings.Contains(log.String(), "failed") {
		t.Errorf("log %s", log.String())
	}
	if _, err := e.Submit(t.Context(), "nobody", click("")); code(err) != "not_found" {
		t.Errorf("unknown agent: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := click("")
	in.Ref = "again"
	_, _ = e.Submit(ctx, agentID, in) // it leads, so it may be stored
	e.submit(in)
}

// TestNameIsNeverReplaced: rule 20.
func TestNameIsNeverReplaced(t *testing.T) {
	now := time.Date(2026, 5, 18, 15, 30, 0, 0, time.UTC)
	e := open(t, func(o *aap.Options) {
		o.NewID, o.Now = func() string { return "fixed" }, func() time.Time { return now }
	})
	e.submit(click("first"))
	stolen := "2026-05-18T15-30-00-001Z-fixed.json"
	e.page("interactions/"+stolen, "theirs")
	if _, err := e.Submit(t.Context(), agentID, click("second")); code(err) != "internal_error" {
		t.Errorf("a taken name: %v", err)
	}
	if names := e.records(); e.file(stolen) != "theirs" || len(names) != 2 {
		t.Errorf("after a taken name: %q in %q", e.file(stolen), names)
	}
	e.submit(click("third"))
}

// TestGarbage: rule 20: temporary files are removed when they are a day old.
func TestGarbage(t *testing.T) {
	e := open(t)
	for name, age := range map[string]time.Duration{".aap-old": 25 * time.Hour, ".aap-new": 23 * time.Hour, ".other": 48 * time.Hour} {
		e.page("interactions/"+name, "half")
		if err := os.Chtimes(e.canvas("interactions/"+name), time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := aap.Open(aap.Options{Root: e.root}); err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	if got := e.records(); !slices.Equal(got, []string{".aap-new", ".other"}) {
		t.Errorf("left %q", got)
	}
}

// TestManyCallers: rule 19 and 20: 64 callers at a time; every answer is a whole file, and
// watchers hear of each once, in the order of the names.
func TestManyCallers(t *testing.T) {
	e := open(t, func(o *aap.Options) { o.Limits = aap.Limits{Rate: 1e6, Burst: 1e6} })
	var told []string
	stop := e.Watch(func(c aap.Change) { told = append(told, c.Record.FileName()) })
	var wg sync.WaitGroup
	for n := range 64 {
		wg.Go(func() {
			for m := range 10 {
				rec := e.submit(click(fmt.Sprint(n, "-", m)))
				if _, err := os.Stat(e.canvas("interactions/" + rec.FileName())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	stop()
	if names := e.records(); len(names) != 640 || !slices.Equal(names, told) {
		t.Errorf("%d files, %d changes, equal: %v", len(names), len(told), slices.Equal(names, told))
	}
}

// TestList: rule 21 and 24: newest first, pages by before, filters, others' records as
// they stand, malformed files left out.
func TestList(t *testing.T) {
	var log bytes.Buffer
	e := open(t, func(o *aap.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	list := func(q aap.Query) (out []string, more bool) {
		t.Helper()
		records, more, err := e.List("AUTH", q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			var m struct {
				ID string `json:"id"`
			}
			if err := ahp.Unmarshal(r, &m); err != nil {
				t.Fatalf("%s: %v", r, err)
			}
			out = append(out, m.ID)
		}
		return out, more
	}
	if got, more := list(aap.Query{}); got != nil || more {
		t.Errorf("no folder: %q, %v", got, more)
	}
	for n, file := range []string{"a.html", "b.html", "a.html", "b.html"} {
		e.page(fmt.Sprintf("interactions/2026-01-0%d-r%d.json", n+1, n), fmt.Sprintf("{ \"id\": \"r%d\", \"canvasFile\": %q, \"element\": null, \"data\": [1, 2] }\n", n, file))
	}
	e.page("interactions/2026-01-05-bad.json", `{"id":`)
	e.page("interactions/2026-01-06-bad.json", `[]`)
	e.page("interactions/2026-01-07-note.txt", `{}`)
	if err := os.Symlink(e.canvas("interactions/2026-01-01-r0.json"), e.canvas("interactions/2026-01-08-link.json")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    aap.Query
		want string
		more bool
	}{
		{aap.Query{}, "r3 r2 r1 r0", false},
		{aap.Query{Limit: 2}, "r3 r2", true},
		{aap.Query{Limit: 4}, "r3 r2 r1 r0", false},
		{aap.Query{Before: "r2"}, "r1 r0", false},
		{aap.Query{Before: "r0"}, "", false},
		{aap.Query{File: "a.html"}, "r2 r0", false},
		{aap.Query{File: "a.html", Limit: 1}, "r2", true},
	} {
		if got, more := list(c.q); strings.Join(got, " ") != c.want || more != c.more {
			t.Errorf("%+v: %q, %v", c.q, got, more)
		}
	}
	if _, _, err := e.List(agentID, aap.Query{Before: "none"}); code(err) != "invalid_field before" {
		t.Errorf("an unknown before: %v", err)
	}
	if r, err := e.Record(agentID, "r1"); err != nil || string(r) != `{"id":"r1","canvasFile":"b.html","element":null,"data":[1,2]}` {
		t.Errorf("record %s, %v", r, err)
	}
	for _, id := range []string{"", "none", "bad", "../r1", "link"} {
		if _, err := e.Record(agentID, id); code(err) != "not_found" {
			t.Errorf("record %q: %v", id, err)
		}
	}
	if n := strings.Count(log.String(), "left out"); n != 1 {
		t.Errorf("malformed files were logged %d times: %s", n, log.String())
	}
}

// TestListOfOnePage: rule 21: a list of one page looks at the newest 10,000 records.
func TestListOfOnePage(t *testing.T) {
	e := open(t)
	e.page("interactions/2026-01-01-target.json", `{"id":"target","canvasFile":"a.html"}`)
	e.page("interactions/2026-01-02-x0.json", `{"id":"x","canvasFile":"b.html"}`)
	for n := 1; n < 9999; n++ {
		if err := os.Link(e.canvas("interactions/2026-01-02-x0.json"), e.canvas(fmt.Sprintf("interactions/2026-01-02-x%d.json", n))); err != nil {
			t.Fatal(err)
		}
	}
	for want := 1; want >= 0; want-- {
		records, _, err := e.List(agentID, aap.Query{File: "a.html"})
		if err != nil || len(records) != want {
			t.Errorf("%d records, %v; want %d", len(records), err, want)
		}
		e.page("interactions/2026-01-03-last.json", `{"id":"last","canvasFile":"b.html"}`) // the target is the 10,001st
	}
}

// TestAcknowledge keeps the acknowledgment beside the record, which does not change.
func TestAcknowledge(t *testing.T) {
	e := open(t)
	rec := e.submit(click(""))
	before := e.file(rec.FileName())
	if _, err := e.Acknowledge(agentID, rec.ID, "done\x1b\nit"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Acknowledge(agentID, "none", ""); code(err) != "not_found" {
		t.Errorf("an unknown record: %v", err)
	}
	if got := e.Acknowledgments(agentID, rec.ID, "none", "../x")[rec.ID]; got.Note != "done it" || got.ID != rec.ID {
		t.Errorf("acknowledged as %+v", got)
	}
	if e.file(rec.FileName()) != before {
		t.Error("the record has changed")
	}
	if records, _, err := e.List(agentID, aap.Query{}); err != nil || len(records) != 1 {
		t.Errorf("the list has %d records, %v", len(records), err)
	}
}

// TestSideBySide: two stores and a foreign writer in one folder; no record is lost.
func TestSideBySide(t *testing.T) {
	n := 300
	if os.Getenv("AHP_LONG") != "" {
		n = 10_000
	}
	e := open(t, func(o *aap.Options) { o.Limits = aap.Limits{Rate: 1e9, Burst: 1e9} })
	other := open(t, func(o *aap.Options) { o.Root, o.Limits = e.root, aap.Limits{Rate: 1e9, Burst: 1e9} })
	e.submit(click("")) // makes the folder
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range n / 8 {
				e.submit(click("host"))
			}
		})
		wg.Go(func() {
			for range n / 8 {
				if _, err := other.Submit(t.Context(), agentID, click("second")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() { // as the reference writes: at once under the record's own name
		for m := range n {
			id := fmt.Sprintf("f%06d", m)
			r := aap.Record{ID: id, Timestamp: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), CanvasFile: "p.html", Action: "click", Summary: "s"}
			e.page("interactions/"+r.FileName(), string(ahp.MustMarshal(r)))
		}
	})
	wg.Wait()
	want := 1 + 2*(n/8*8) + n
	names := e.records()
	records, _, err := e.List(agentID, aap.Query{Limit: want + 1})
	if err != nil || len(records) != want || len(names) != want {
		t.Fatalf("%d files and %d records of %d, %v", len(names), len(records), want, err)
	}
	last := "~"
	for _, r := range records {
		var rec aap.Record
		if err := ahp.Unmarshal(r, &rec); err != nil || rec.FileName() > last {
			t.Fatalf("%s after %s: %v", rec.FileName(), last, err)
		}
		last = rec.FileName()
	}
}

// TestOpenRefuses what is no root and no canvas folder.
func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, o := range []aap.Options{
		{Root: file}, {Root: file + "-none"},
		{Agents: map[string]string{"a": file + "-none"}}, {Agents: map[string]string{"a/b": t.TempDir()}}, {Agents: map[string]string{"": t.TempDir()}},
	} {
		if s, err := aap.Open(o); err == nil {
			_ = s.Close()
			t.Errorf("%+v was opened", o)
		}
	}
}
