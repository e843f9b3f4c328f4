package trace

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// collector is an HTTP server that keeps what it receives.
func collector(t *testing.T, status int) (url string, received chan exportRequest) {
	received = make(chan exportRequest, 16)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req exportRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v", r.URL.Path, err)
		}
		received <- req
		w.WriteHeader(status)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, received
}

func TestExport(t *testing.T) {
	t.Parallel()
	url, received := collector(t, http.StatusOK)
	tr, err := New(Options{URL: url + "/", Service: "s", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	caller, ok := Parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if !ok {
		t.Fatal("not parsed")
	}
	ctx, outer := tr.Start(With(t.Context(), caller), "outer")
	_, inner := tr.Start(ctx, "inner")
	inner.Set("a", "b")
	inner.Set("empty", "")
	inner.End("went_wrong")
	outer.End("")
	tr.Close(t.Context())
	got := <-received
	spans := got.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 2 || got.ResourceSpans[0].Resource.Attributes[0].Value.Text != "s" {
		t.Fatalf("%+v", got)
	}
	in, out := spans[0], spans[1]
	if out.TraceID != "0af7651916cd43dd8448eb211c80319c" || out.ParentID != "b7ad6b7169203331" || in.TraceID != out.TraceID || in.ParentID != out.SpanID || out.Status != nil {
		t.Errorf("%+v\n%+v", in, out)
	}
	if in.Name != "inner" || in.Status.Code != statusError || len(in.Attributes) != 2 || in.Attributes[1].Value.Text != "went_wrong" {
		t.Errorf("%+v", in)
	}
	if h := Header(ctx); h != "00-"+out.TraceID+"-"+out.SpanID+"-01" {
		t.Error(h)
	}
	if outer.End(""); tr.Dropped() != 1 {
		t.Error("a span of a closed tracer is not counted")
	}
}

// TestCollectorDown: what the collector refuses is counted, and Close does not wait for
// one that does not answer.
func TestCollectorDown(t *testing.T) {
	t.Parallel()
	url, _ := collector(t, http.StatusServiceUnavailable)
	tr, err := New(Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	_, s := tr.Start(t.Context(), "x")
	s.End("")
	tr.Close(t.Context())
	if tr.Dropped() != 1 {
		t.Errorf("dropped %d", tr.Dropped())
	}
	block := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-block:
		case <-r.Context().Done():
		}
	}))
	defer silent.Close()
	defer close(block)
	if tr, err = New(Options{URL: silent.URL}); err != nil {
		t.Fatal(err)
	}
	_, s = tr.Start(t.Context(), "x")
	s.End("")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tr.Close(ctx)
}

func TestQueueLimit(t *testing.T) {
	t.Parallel()
	tr := &Tracer{now: time.Now, full: make(chan struct{}, 1)} // nothing exports
	for range maxQueued + 3 {
		_, s := tr.Start(t.Context(), "x")
		s.End("")
	}
	if len(tr.queued) != maxQueued || tr.dropped != 3 {
		t.Errorf("%d queued, %d dropped", len(tr.queued), tr.dropped)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for header, want := range map[string]bool{
		"00-" + id + "-" + span + "-01":                       true,
		"cc-" + id + "-" + span + "-01-later":                 true,
		"00-" + id + "-" + span + "-01-more":                  false,
		"ff-" + id + "-" + span + "-01":                       false,
		"00-" + id + "-" + span:                               false,
		"00-" + id[1:] + "-" + span + "-01":                   false,
		"00-00000000000000000000000000000000-" + span + "-01": false,
		"00-" + id + "-0000000000000000-01":                   false,
		"00-0AF7651916cd43dd8448eb211c80319c-" + span + "-01": false,
		"": false,
	} {
		if _, ok := Parse(header); ok != want {
			t.Errorf("%q: %v", header, ok)
		}
	}
	quiet, _ := Parse("00-" + id + "-" + span + "-00")
	if _, s := (&Tracer{now: time.Now}).Start(With(t.Context(), quiet), "x"); s != nil || Header(With(t.Context(), quiet)) == "" {
		t.Error("a caller that records nothing gets a span")
	}
	for _, address := range []string{"localhost:4318", "ftp://x", "http://", "http://u:p@x", "http://x?y"} {
		if _, err := New(Options{URL: address}); err == nil {
			t.Errorf("%q is accepted", address)
		}
	}
}

// TestOffIsFree: without a tracer nothing is allocated.
func TestOffIsFree(t *testing.T) {
	if n := testing.AllocsPerRun(100, off(t.Context())); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func off(ctx context.Context) func() {
	var tr *Tracer
	return func() {
		_, s := tr.Start(ctx, "x")
		s.Set("a", "b")
		s.End("")
	}
}

func BenchmarkOff(b *testing.B) {
	f := off(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
}

func BenchmarkOn(b *testing.B) {
	tr := &Tracer{now: time.Now, full: make(chan struct{}, 1), closed: true}
	b.ReportAllocs()
	for b.Loop() {
		_, s := tr.Start(b.Context(), "x")
		s.Set("a", "b")
		s.End("")
	}
}
