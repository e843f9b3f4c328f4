package canvas

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/segmentio/asm/base64"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// resource is content that is ready to be encoded.
type resource struct {
	uri         string
	contentType string
	etag        string
	data        []byte
	text        bool
}

// wordRoom is how many bytes a byte of a provider's word may become: a control
// character is written as \u0017, and a byte that is no UTF-8 as three.
const wordRoom = 6

const etagMember = `,"_meta":{"x-ahp-canvas/etag":`

// encodeRead writes the result of canvasReadResource in one pass, into one
// buffer of the right size: the data is escaped, or turned into base64, straight
// into it (performance.md section 3).
func (r *resource) encodeRead() ahp.Value {
	b := make([]byte, 0, r.dataSize()+escapeRoom+wordRoom*(len(r.uri)+len(r.contentType)+len(r.etag))+128)
	b = append(b, `{"contents":[{"uri":`...)
	b = appendString(b, r.uri)
	b = append(b, `,"mimeType":`...)
	b = appendString(b, r.contentType)
	if r.text {
		b = append(b, `,"text":`...)
	} else {
		b = append(b, `,"blob":`...)
	}
	b = r.appendData(b)
	b = append(b, `}]`...)
	if r.etag != "" {
		b = append(b, etagMember...)
		b = append(appendString(b, r.etag), '}')
	}
	return append(b, '}')
}

// streamFrom is the size from which content is encoded while it leaves, each time
// anew; what is smaller is encoded whole, and kept.
const streamFrom = 1 << 20

// writeRead writes what encodeRead returns.
func (r *resource) writeRead(w io.Writer) error {
	around := *r
	around.data = nil
	shell := around.encodeRead()
	cut := bytes.Index(shell, []byte(`""}]`)) + 1
	if _, err := w.Write(shell[:cut]); err != nil {
		return err
	}
	buffer, ok := w.(interface{ AvailableBuffer() []byte }) // as bufio.Writer has it
	var own []byte
	for data := r.data; len(data) > 0; {
		b := own
		if ok {
			b = buffer.AvailableBuffer()
		}
		if cap(b) < minBuffer {
			own = make([]byte, 0, ownBuffer)
			b = own
		}
		n, taken := r.encodeInto(b[:cap(b)], data)
		if _, err := w.Write(b[:n]); err != nil {
			return err
		}
		data = data[taken:]
	}
	_, err := w.Write(shell[cut:])
	return err
}

// Content is encoded into at least minBuffer bytes at a time, into ownBuffer
// where the writer has less.
const (
	minBuffer = 512
	ownBuffer = 32 << 10
)

// encodeInto fills dst, of at least minBuffer bytes, with as much of data as
// fits, or all of it.
func (r *resource) encodeInto(dst, data []byte) (n, taken int) {
	if r.text {
		return escape(dst, data)
	}
	taken = min(len(data), len(dst)/4*3) // a multiple of three but at the end
	base64.StdEncoding.Encode(dst, data[:taken])
	return base64.StdEncoding.EncodedLen(taken), taken
}

// encodeResource writes the result of resourceRead.
func (r *resource) encodeResource() ahp.Value {
	b := make([]byte, 0, r.dataSize()+escapeRoom+wordRoom*len(r.contentType)+128)
	b = append(b, `{"data":`...)
	b = r.appendData(b)
	if r.text {
		b = append(b, `,"encoding":"utf-8"`...)
	} else {
		b = append(b, `,"encoding":"base64"`...)
	}
	b = append(b, `,"contentType":`...)
	return append(appendString(b, r.contentType), '}')
}

// notModified is the result of a read whose validator still holds.
func notModified(etag string) ahp.Value {
	b := append([]byte(`{"contents":[]`), etagMember...)
	return append(appendString(b, etag), "}}"...)
}

func (r *resource) dataSize() int {
	if r.text {
		return escapedSize(r.data) + 2
	}
	return base64.StdEncoding.EncodedLen(len(r.data)) + 2
}

func (r *resource) appendData(b []byte) []byte {
	b = append(b, '"')
	size := r.dataSize() - 2
	b = slices.Grow(b, size+escapeRoom)
	r.encodeInto(b[len(b):cap(b)], r.data)
	return append(b[:len(b)+size], '"')
}

// appendString writes a string of a provider's, which may be any bytes.
func appendString(b []byte, s string) []byte {
	return append(b, ahp.MustMarshal(strings.ToValidUTF8(s, "\uFFFD"))...)
}
