package bridge

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// memory is an app without a socket, which gives every request the same response.
type memory struct{ body []byte }

func (m memory) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Header: http.Header{"Content-Type": {"application/octet-stream"}},
		Body: io.NopCloser(bytes.NewReader(m.body)), ContentLength: int64(len(m.body)), Request: req,
	}, nil
}

// BenchmarkResponse sends a response of 16 MiB from Server to Client; the goal is 50
// MB/s.
func BenchmarkResponse(b *testing.B) {
	_, c := pair(b, Options{RoundTripper: memory{make([]byte, 16<<20)}})
	b.SetBytes(16 << 20)
	for b.Loop() {
		resp, err := c.RoundTrip(get(b, "/"))
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, resp.Body); n != 16<<20 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkMessages sends requests with responses of 1 KiB: two messages each, 64
// requests at a time. The goal is 10,000 messages a second with a p99 of 20 ms.
func BenchmarkMessages(b *testing.B) {
	_, c := pair(b, Options{RoundTripper: memory{make([]byte, 1<<10)}})
	took := make(chan time.Duration, 1<<20)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			begun := time.Now()
			resp, err := c.RoundTrip(get(b, "/"))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			select {
			case took <- time.Since(begun):
			default:
			}
		}
	})
	close(took)
	var all []time.Duration
	for d := range took {
		all = append(all, d)
	}
	slices.Sort(all)
	if len(all) > 0 {
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	}
	b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "messages/s")
}

func get(t testing.TB, path string) *http.Request {
	req, err := http.NewRequest("GET", "http://canvas"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// BenchmarkChunk encodes and decodes one chunk of 32 KiB.
func BenchmarkChunk(b *testing.B) {
	payload := finish(appendChunk(nil, "data", 7, 1), []byte(strings.Repeat("x", maxChunk)), false, nil)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(maxChunk)
		data, space := make([]byte, maxChunk), make([]byte, 0, maxMessage)
		for b.Loop() {
			_ = finish(appendChunk(space, "data", 7, 1), data, false, nil)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(maxChunk)
		for b.Loop() {
			if _, _, err := decode(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestChunkCost: encoding a chunk reuses the buffer of the previous one.
func TestChunkCost(t *testing.T) {
	data, space := make([]byte, maxChunk), make([]byte, 0, maxMessage)
	if n := testing.AllocsPerRun(100, func() { _ = finish(appendChunk(space, "data", maxID, maxID), data, true, nil) }); n != 0 {
		t.Errorf("a chunk's message costs %v allocations", n)
	}
}
