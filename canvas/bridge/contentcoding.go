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

// codings are the content codings that can be decoded.
var codings = map[string]func(*bufio.Reader) (io.Reader, error){
	"gzip": openGzip, "x-gzip": openGzip, "deflate": openDeflate, "br": openBrotli, "zstd": openZstd,
}

const (
	// maxCodings is the limit for one response; each coding needs memory for its window.
	maxCodings = 2
	// zstdWindow is the limit of RFC 9659; that of brotli is 16 MiB.
	zstdWindow = 8 << 20
)

// decoded returns a response's body without its content codings, which a page could not
// decode. The host asks apps for none, but some have only the compressed file. decodes
// reports whether there is a coding, so that the body's length is different.
func decoded(resp *http.Response) (body io.Reader, decodes bool, err error) {
	var open []func(*bufio.Reader) (io.Reader, error)
	for name := range strings.SplitSeq(strings.Join(resp.Header["Content-Encoding"], ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case name == "" || name == "identity":
		case codings[name] == nil || len(open) == maxCodings:
			return nil, true, badResponse("the app's response has an unsupported content coding")
		default:
			open = append(open, codings[name])
		}
	}
	body = resp.Body
	for _, undo := range slices.Backward(open) { // the header lists them in the order of encoding
		body = &lazyDecoder{from: body, open: undo}
	}
	return body, len(open) > 0, nil
}

// Decoded returns a response's body without its content codings (gzip, deflate, br,
// zstd). It fails if a coding is not supported.
func Decoded(resp *http.Response) (io.Reader, error) {
	body, _, err := decoded(resp)
	return body, err
}

func openGzip(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }

// openDeflate decodes zlib data, which is what deflate means, and raw deflate data,
// which many servers send.
func openDeflate(r *bufio.Reader) (io.Reader, error) {
	if head, _ := r.Peek(2); len(head) == 2 && head[0]&0xf == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

func openBrotli(r *bufio.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }

// openZstd decodes in the reading goroutine, so that nothing must be closed.
func openZstd(r *bufio.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
}

// lazyDecoder opens a decoder at the first read, which waits for the first bytes. An
// empty body is not decoded: some apps declare a coding for one.
type lazyDecoder struct {
	from io.Reader
	open func(*bufio.Reader) (io.Reader, error)
	to   io.Reader
	err  error
}

func (l *lazyDecoder) Read(p []byte) (int, error) {
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
