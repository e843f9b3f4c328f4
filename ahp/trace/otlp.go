package trace

import (
	"encoding/hex"
	"strconv"
	"time"
)

// The messages of OTLP in JSON: ids are hexadecimal, and times are decimal texts.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []wireSpan `json:"spans"`
	}
	scope struct {
		Name string `json:"name"`
	}
	wireSpan struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		ParentID   string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Status     *status    `json:"status,omitempty"`
	}
	status struct {
		Code int `json:"code"`
	}
	keyValue struct {
		Key   string    `json:"key"`
		Value textValue `json:"value"`
	}
	textValue struct {
		Text string `json:"stringValue"`
	}
)

const (
	kindInternal = 1
	statusError  = 2
)

func (s *Span) encode(end time.Time, failed bool) wireSpan {
	w := wireSpan{
		TraceID: hex.EncodeToString(s.self.trace[:]), SpanID: hex.EncodeToString(s.self.span[:]), Name: s.name, Kind: kindInternal,
		Start: strconv.FormatInt(s.start.UnixNano(), 10), End: strconv.FormatInt(end.UnixNano(), 10), Attributes: encodeAll(s.attributes),
	}
	if s.parent != [8]byte{} {
		w.ParentID = hex.EncodeToString(s.parent[:])
	}
	if failed {
		w.Status = &status{statusError}
	}
	return w
}

func encodeAll(attributes []attribute) (all []keyValue) {
	for _, a := range attributes {
		all = append(all, keyValue{a.key, textValue{a.value}})
	}
	return all
}

func (t *Tracer) request(spans []wireSpan) exportRequest {
	return exportRequest{[]resourceSpans{{
		Resource:   resource{encodeAll([]attribute{{"service.name", t.opts.Service}, {"service.version", t.opts.Version}})},
		ScopeSpans: []scopeSpans{{scope{"ahp-canvas"}, spans}},
	}}}
}
