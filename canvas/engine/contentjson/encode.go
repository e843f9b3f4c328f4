package contentjson

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/segmentio/asm/base64"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Resource is content that is ready to be encoded. It is not changed while it is
// encoded.
type Resource struct {
	URI         string // ahp-canvas-content: URI of the content
	ContentType string // a media type
	ETag        string // validator; "" is none
	Data        []byte // the content; valid UTF-8 if Text is true
	Text        bool   // encoded as text, not base64; see [IsText]
}

// maxEscaped is how many bytes one byte of a string may become: a control character
// is written as \u0017, and an invalid UTF-8 byte as three bytes.
const maxEscaped = 6

const etagMember = `,"_meta":{"x-ahp-canvas/etag":`

// Read encodes the result of canvasReadResource in one pass, into one buffer of the
// right size.
func (r *Resource) Read() ahp.Value {
	b := make([]byte, 0, r.EncodedSize()+escapeSlack+maxEscaped*(len(r.URI)+len(r.ContentType)+len(r.ETag))+128)
	b = append(b, `{"contents":[{"uri":`...)
	b = appendString(b, r.URI)
	b = append(b, `,"mimeType":`...)
	b = appendString(b, r.ContentType)
	if r.Text {
		b = append(b, `,"text":`...)
	} else {
		b = append(b, `,"blob":`...)
	}
	b = r.appendData(b)
	b = append(b, `}]`...)
	if r.ETag != "" {
		b = append(b, etagMember...)
		b = append(appendString(b, r.ETag), '}')
	}
	return append(b, '}')
}

// WriteRead writes what Read returns, piece by piece.
func (r *Resource) WriteRead(w io.Writer) error {
	around := *r
	around.Data = nil
	shell := around.Read()
	cut := bytes.Index(shell, []byte(`""}]`)) + 1
	if _, err := w.Write(shell[:cut]); err != nil {
		return err
	}
	buffer, ok := w.(interface{ AvailableBuffer() []byte }) // as bufio.Writer has it
	var own []byte
	for data := r.Data; len(data) > 0; {
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

// Content is encoded into at least minBuffer bytes at a time, and into ownBuffer bytes
// if the writer has fewer available.
const (
	minBuffer = 512
	ownBuffer = 32 << 10
)

// encodeInto fills dst, of at least minBuffer bytes, with as much of data as fits. It
// returns how many bytes it wrote and how many of data it encoded.
func (r *Resource) encodeInto(dst, data []byte) (n, taken int) {
	if r.Text {
		return escape(dst, data)
	}
	for taken < len(data) && len(dst)-n >= 4 {
		took := min(len(data)-taken, (len(dst)-n)/4*3, piece) // a multiple of three but at the end
		base64.StdEncoding.Encode(dst[n:], data[taken:taken+took])
		n, taken = n+base64.StdEncoding.EncodedLen(took), taken+took
	}
	return n, taken
}

// ResourceRead encodes the result of resourceRead.
func (r *Resource) ResourceRead() ahp.Value {
	b := make([]byte, 0, r.EncodedSize()+escapeSlack+maxEscaped*len(r.ContentType)+128)
	b = append(b, `{"data":`...)
	b = r.appendData(b)
	if r.Text {
		b = append(b, `,"encoding":"utf-8"`...)
	} else {
		b = append(b, `,"encoding":"base64"`...)
	}
	b = append(b, `,"contentType":`...)
	return append(appendString(b, r.ContentType), '}')
}

// NotModified encodes the result of a canvasReadResource whose validator still holds.
func NotModified(etag string) ahp.Value {
	b := append([]byte(`{"contents":[]`), etagMember...)
	return append(appendString(b, etag), "}}"...)
}

// EncodedSize returns how many bytes the encoded data takes, with its quotes.
func (r *Resource) EncodedSize() int {
	if r.Text {
		return escapedSize(r.Data) + 2
	}
	return base64.StdEncoding.EncodedLen(len(r.Data)) + 2
}

func (r *Resource) appendData(b []byte) []byte {
	b = append(b, '"')
	size := r.EncodedSize() - 2
	b = slices.Grow(b, size+escapeSlack)
	r.encodeInto(b[len(b):cap(b)], r.Data)
	return append(b[:len(b)+size], '"')
}

// appendString appends a string of a provider as JSON; its bytes may be invalid UTF-8.
func appendString(b []byte, s string) []byte {
	return append(b, ahp.MustMarshal(strings.ToValidUTF8(s, "\uFFFD"))...)
}
