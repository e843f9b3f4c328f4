package relay

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// TestLanesAreTraced: a lane is a span below that of the client's request, with the time
// until the host joined it, and a refused client is one with the reason.
func TestLanesAreTraced(t *testing.T) {
	t.Parallel()
	type span struct {
		TraceID, SpanID, ParentSpanID, Name string
		Status                              struct{ Code int }
	}
	received := make(chan span, 64)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
			return
		}
		for _, s := range body.ResourceSpans[0].ScopeSpans[0].Spans {
			received <- s
		}
	}))
	defer collector.Close()
	tracer, err := trace.New(trace.Options{URL: collector.URL})
	if err != nil {
		t.Fatal(err)
	}
	n := inMemory()
	edge := startEdge(t, n, EdgeOptions{Trace: tracer, StartupGrace: -1})
	u := startUplink(t, n, UplinkOptions{})
	u.await(t, Registered)
	header := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
	for _, host := range []string{"laptop", "absent"} {
		c, err := tryDial(t, n, "ahp/"+host, ws.DialOptions{Token: userToken, Header: header})
		if err != nil {
			t.Fatal(err)
		}
		if host == "laptop" {
			wantEcho(t, c, "hello")
			c.Close(ws.CodeNormal, "")
			c.Wait()
			continue
		}
		wantClose(t, c, CodeHostOffline, "host offline")
	}
	_ = u.stop()
	edge.stop()
	tracer.Close(t.Context())
	close(received)
	lanes, joins, refused := map[string]bool{}, 0, 0
	var all []span
	for s := range received {
		if all = append(all, s); s.Name == "relay lane" {
			lanes[s.SpanID] = s.ParentSpanID == "b7ad6b7169203331"
		}
	}
	for _, s := range all {
		if s.Name == "relay join" && lanes[s.ParentSpanID] {
			joins++
		}
		if s.Status.Code == 2 {
			refused++
		}
	}
	if len(lanes) != 2 || joins != 2 || refused != 2 { // the refused lane and its join
		t.Errorf("%d lanes, %d joins, %d refused: %+v", len(lanes), joins, refused, all)
	}
}
