package monitoring

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// collector reads traces with the decoder of the OpenTelemetry collector.
type collector struct {
	t     *testing.T
	url   string
	spans chan string // names, in the order in which they came
}

func newCollector(t *testing.T) *collector {
	c := &collector{t: t, spans: make(chan string, 1024)}
	server := httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *collector) receive(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program was killed
	}
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(body)
	if err != nil || r.URL.Path != "/v1/traces" {
		c.t.Errorf("%s: %v", r.URL.Path, err)
		return
	}
	for _, resource := range traces.ResourceSpans().All() {
		if name, ok := resource.Resource().Attributes().Get("service.name"); !ok || name.Str() == "" {
			c.t.Error("a resource has no service.name")
		}
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				if s.TraceID().IsEmpty() || s.SpanID().IsEmpty() || s.EndTimestamp() < s.StartTimestamp() || time.Since(s.StartTimestamp().AsTime()) > time.Hour {
					c.t.Errorf("the span %q is read as %v %v, from %v to %v", s.Name(), s.TraceID(), s.SpanID(), s.StartTimestamp(), s.EndTimestamp())
				}
				c.spans <- s.Name()
			}
		}
	}
}

// await waits until a span of each name was read.
func (c *collector) await(names ...string) {
	c.t.Helper()
	timeout := time.After(time.Minute)
	for len(names) > 0 {
		select {
		case name := <-c.spans:
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		case <-timeout:
			c.t.Fatalf("no spans %q", names)
		}
	}
}
