package trace

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const parentHeader = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestTransport: an exchange is a span from the request to the end of the body, below the
// one that the page names, and the app receives it.
func TestTransport(t *testing.T) {
	t.Parallel()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, r.Header.Get("Traceparent"))
	}))
	defer app.Close()
	tr := &Tracer{now: time.Now, full: make(chan struct{}, 1)} // nothing exports
	get := func(path, traceparent string, end func(*http.Response) string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", app.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if traceparent != "" {
			req.Header.Set("Traceparent", traceparent)
		}
		before := len(tr.queued)
		resp, err := tr.Transport(http.DefaultTransport).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if len(tr.queued) != before {
			t.Error("the span ended before the body")
		}
		return end(resp)
	}
	whole := func(resp *http.Response) string {
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		return string(text)
	}
	closed := func(resp *http.Response) string { return fmt.Sprint(resp.Body.Close()) }

	received := get("/", parentHeader, whole)
	s := tr.queued[0]
	if s.ParentID != "b7ad6b7169203331" || received != "00-"+s.TraceID+"-"+s.SpanID+"-01" || s.Status != nil || fmt.Sprint(s.Attributes) != "[{http.request.method {GET}} {http.response.status_code {200}}]" {
		t.Errorf("%+v, the app received %q", s, received)
	}
	if get("/broken", "", closed); len(tr.queued) != 2 || tr.queued[1].Status == nil {
		t.Errorf("%+v", tr.queued)
	}
	if quiet := strings.TrimSuffix(parentHeader, "1") + "0"; get("/", quiet, whole) != quiet || len(tr.queued) != 2 {
		t.Error("an exchange of a page that records nothing was recorded")
	}
	req := httptest.NewRequest("BREW", "http://127.0.0.1:1/", nil)
	if _, err := tr.Transport(http.DefaultTransport).RoundTrip(req); err == nil || len(tr.queued) != 3 || tr.queued[2].Status == nil || tr.queued[2].Attributes[0].Value.Text != "_OTHER" {
		t.Errorf("%v, %+v", err, tr.queued)
	}
	if tr = nil; tr.Transport(http.DefaultTransport) != http.DefaultTransport {
		t.Error("a nil Tracer wraps the transport")
	}
}

// TestDurations: spans are counted by their names, whatever the collector does, and names
// are limited.
func TestDurations(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	tr := &Tracer{now: func() time.Time { return now }, full: make(chan struct{}, 1), closed: true}
	for _, took := range []time.Duration{time.Millisecond, 3 * time.Millisecond, 2 * time.Minute} {
		now = time.Unix(1000, 0)
		_, s := tr.Start(t.Context(), "work")
		now = now.Add(took)
		s.End("")
	}
	all := tr.Durations()
	if len(all) != 1 || all[0].Name != "work" || all[0].Sum != 2*time.Minute+4*time.Millisecond || fmt.Sprint(all[0].Counts) != "[1 1 0 0 0 0 0 0 1]" {
		t.Fatalf("%+v", all)
	}
	last := all[0].Exemplars[len(Buckets)]
	if len(last.TraceID) != 32 || last.Took != 2*time.Minute || !last.Ended.Equal(now) || all[0].Exemplars[2].TraceID != "" {
		t.Errorf("%+v", all[0].Exemplars)
	}
	for i := range 2 * maxNames {
		_, s := tr.Start(t.Context(), fmt.Sprint("name ", i))
		s.End("")
	}
	if all := tr.Durations(); len(all) != maxNames+1 {
		t.Errorf("%d names", len(all))
	}
}

// TestMeta: a span goes to another program in _meta, beside its other members, and is
// read in that program.
func TestMeta(t *testing.T) {
	t.Parallel()
	parent, _ := Parse(parentHeader)
	ctx := With(t.Context(), parent)
	for meta, want := range map[string]string{
		"":                `{"traceparent":"` + parentHeader + `"}`,
		"{}":              `{"traceparent":"` + parentHeader + `"}`,
		` { "a" : {} } `:  `{"traceparent":"` + parentHeader + `","a" : {} }`,
		`{"a":1,"b":"}"}`: `{"traceparent":"` + parentHeader + `","a":1,"b":"}"}`,
	} {
		got := AddMeta(ctx, []byte(meta))
		if string(got) != want {
			t.Errorf("%q: %s", meta, got)
		}
		if Header(FromMeta(t.Context(), got)) != parentHeader {
			t.Errorf("%s is not read", got)
		}
	}
	if got := AddMeta(t.Context(), []byte(`{"a":1}`)); string(got) != `{"a":1}` {
		t.Errorf("without a span: %s", got)
	}
	for _, meta := range []string{"", "{}", `{"traceparent":7}`, `{"traceparent":"x"}`, `[`} {
		if FromMeta(t.Context(), []byte(meta)) != t.Context() {
			t.Errorf("%q has a span", meta)
		}
	}
}

// TestOffMetaIsFree: without a span, meta and the context stay what they are, and
// nothing is allocated.
func TestOffMetaIsFree(t *testing.T) {
	ctx, meta := context.Background(), []byte(`{"a":1}`)
	if n := testing.AllocsPerRun(100, func() { _ = AddMeta(ctx, meta); _ = FromMeta(ctx, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
