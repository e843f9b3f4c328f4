package bridge

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// flusher is a compressor.
type flusher interface {
	io.WriteCloser
	Flush() error
}

var compressors = map[string]func(io.Writer) flusher{
	"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"x-gzip":  func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"Deflate": func(w io.Writer) flusher { return zlib.NewWriter(w) },
	"deflate": func(w io.Writer) flusher { f, _ := flate.NewWriter(w, 6); return f }, // as many servers have it
	"br":      func(w io.Writer) flusher { return brotli.NewWriter(w) },
	"zstd":    func(w io.Writer) flusher { z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); return z },
}

func compressed(coding, plain string) string {
	var out bytes.Buffer
	w := compressors[coding](&out)
	_, _ = io.WriteString(w, plain)
	_ = w.Close()
	return out.String()
}

// coded is a page whose app always responds with this body.
func coded(t *testing.T, coding string, body io.ReadCloser, more ...string) *Client {
	t.Helper()
	_, c := pair(t, Options{RoundTripper: roundTrip(func(*http.Request) (*http.Response, error) {
		return answerWith(200, body, append(more, "Content-Encoding", coding)...), nil
	})})
	return c
}

func TestContentCoding(t *testing.T) {
	plain := strings.Repeat("canvas ", 10_000)
	bodies := map[string]string{"": plain, "identity": plain, "gzip, br": compressed("br", compressed("gzip", plain)), "zstd,identity,": compressed("zstd", plain)}
	for coding := range compressors {
		bodies[coding] = compressed(coding, plain)
	}
	for coding, body := range bodies {
		c := coded(t, coding, io.NopCloser(strings.NewReader(body)), "Content-Length", strconv.Itoa(len(body)), "Etag", `"1"`)
		resp, got := do(t, c, "GET", "/", "")
		if got != plain || resp.Header.Get("Content-Encoding") != "" || (resp.Header.Get("Content-Length") != "") != (body == plain) || resp.Header.Get("Etag") != `"1"` {
			t.Errorf("%q: got %d bytes, %v", coding, len(got), resp.Header)
		}
	}
}

// TestCodedEnds: an empty body is empty, and a truncated body is an error.
func TestCodedEnds(t *testing.T) {
	for coding := range compressors {
		if _, got := do(t, coded(t, coding, http.NoBody), "GET", "/", ""); got != "" {
			t.Errorf("%s: no bytes gave %q", coding, got)
		}
		whole := compressed(coding, strings.Repeat("canvas ", 10_000))
		resp, err := coded(t, coding, io.NopCloser(strings.NewReader(whole[:len(whole)-3]))).RoundTrip(get(t, "/"))
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		if !errors.Is(err, &Error{Code: CodeBroken}) {
			t.Errorf("%s: half a body gave %v", coding, err)
		}
	}
}

// TestCodedStream: flushed data reaches the page before further data.
func TestCodedStream(t *testing.T) {
	for coding, open := range compressors {
		out, in := io.Pipe()
		w := open(in)
		say := make(chan string)
		go func() {
			for event := range say {
				_, _ = io.WriteString(w, event)
				_ = w.Flush()
			}
			_ = w.Close()
			_ = in.Close()
		}()
		c := coded(t, coding, out, "Content-Type", "text/event-stream")
		resp, err := c.RoundTrip(get(t, "/"))
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"data: 1\n\n", "data: two\n\n", "data: " + strings.Repeat("3", 70_000) + "\n\n"} {
			say <- event
			got := make([]byte, len(event))
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != event {
				t.Fatalf("%s: got %.20q, %v", coding, got, err)
			}
		}
		close(say)
		if rest, err := io.ReadAll(resp.Body); len(rest) > 0 || err != nil {
			t.Errorf("%s: the end gave %q, %v", coding, rest, err)
		}
	}
}

// TestCodedTooMuch: the app cannot exceed the limit of a decoder's memory.
func TestCodedTooMuch(t *testing.T) {
	var wide bytes.Buffer
	z, err := zstd.NewWriter(&wide, zstd.WithWindowSize(16<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write(make([]byte, 32<<20))
	_ = z.Close()
	for coding, body := range map[string]string{"zstd": wide.String(), "gzip, gzip, gzip": "", "compress": ""} {
		resp, err := coded(t, coding, io.NopCloser(strings.NewReader(body))).RoundTrip(get(t, "/"))
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		if !errors.Is(err, &Error{Code: CodeBroken}) {
			t.Errorf("%s: got %v", coding, err)
		}
	}
}
