package bridge

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// codings are the content codings that are undone, and how.
var codings = map[string]func(*bufio.Reader) (io.Reader, error){
	"gzip": openGzip, "x-gzip": openGzip, "deflate": openDeflate, "br": openBrotli, "zstd": openZstd,
}

const (
	// maxCodings are undone of one answer, each with a window of its own in memory.
	maxCodings = 2
	// zstdWindow is what a sender may ask of a receiver (RFC 9659); brotli's is 16 MiB
	// by its format.
	zstdWindow = 8 << 20
)

// decoded returns an answer's body without its content codings, which a page could
// not undo. Apps are asked for none; some have only the compressed file. decodes
// says that there is one: the body's length is another then.
func decoded(resp *http.Response) (body io.Reader, decodes bool, err error) {
	var open []func(*bufio.Reader) (io.Reader, error)
	for name := range strings.SplitSeq(strings.Join(resp.Header["Content-Encoding"], ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case name == "" || name == "identity":
		case codings[name] == nil || len(open) == maxCodings:
			return nil, true, broken("the app's answer is compressed in a way that was not asked for")
		default:
			open = append(open, codings[name])
		}
	}
	body = resp.Body
	for _, undo := range slices.Backward(open) { // they stand in the order in which they were applied
		body = &lazy{from: body, open: undo}
	}
	return body, len(open) > 0, nil
}

// Decoded returns an answer's body without its content codings (gzip, deflate, br,
// zstd). The error says that there is one that cannot be undone.
func Decoded(resp *http.Response) (io.Reader, error) {
	body, _, err := decoded(resp)
	return body, err
}

func openGzip(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }

// openDeflate takes what the name means, and what many servers mean by it: the same
// without zlib's two bytes in front.
func openDeflate(r *bufio.Reader) (io.Reader, error) {
	if head, _ := r.Peek(2); len(head) == 2 && head[0]&0xf == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

func openBrotli(r *bufio.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }

// openZstd decodes in the goroutine that reads: there is nothing to close.
func openZstd(r *bufio.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
}

// lazy opens a decoder at the first read, which waits for the first bytes. Without
// any there is nothing to decode: some apps name a coding for an empty body.
type lazy struct {
	from io.Reader
	open func(*bufio.Reader) (io.Reader, error)
	to   io.Reader
	err  error
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.to == nil && l.err == nil {
		from := bufio.NewReader(l.from)
		if _, l.err = from.Peek(1); l.err == nil {
			l.to, l.err = l.open(from)
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.to.Read(p)
}
