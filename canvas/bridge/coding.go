package bridge

import (
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
)

// decoded returns an answer's body without its content coding, which a page could
// not undo. Apps are asked for none; some have only the compressed file. decodes
// says that there is one: the body's length is another then.
func decoded(resp *http.Response) (body io.Reader, decodes bool, err error) {
	body = resp.Body
	for coding := range strings.SplitSeq(strings.Join(resp.Header["Content-Encoding"], ","), ",") {
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "", "identity":
		case "gzip", "x-gzip":
			body, decodes = &lazy{from: body, open: openGzip}, true
		case "deflate":
			body, decodes = &lazy{from: body, open: zlib.NewReader}, true
		default:
			return nil, true, broken("the app's answer is compressed in a way that was not asked for")
		}
	}
	return body, decodes, nil
}

// Decoded returns an answer's body without its content coding (gzip or deflate).
// The error says that there is one that cannot be undone.
func Decoded(resp *http.Response) (io.Reader, error) {
	body, _, err := decoded(resp)
	return body, err
}

func openGzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

// lazy opens a decoder at the first read: it waits for the first bytes.
type lazy struct {
	from io.Reader
	open func(io.Reader) (io.ReadCloser, error)
	to   io.Reader
	err  error
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.to == nil && l.err == nil {
		l.to, l.err = l.open(l.from)
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.to.Read(p)
}
