package canvas

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"strings"
	"sync"

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

const etagMember = `,"_meta":{"x-ahp-canvas/etag":`

// encodeRead writes the result of canvasReadResource in one pass, into one
// buffer of the right size: the data is escaped, or turned into base64, straight
// into it (performance.md section 3).
func (r *resource) encodeRead() ahp.Value {
	b := make([]byte, 0, r.dataSize()+3*(len(r.uri)+len(r.contentType)+len(r.etag))+128)
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
	piece := encodePieces.Get().(*[]byte)
	defer encodePieces.Put(piece)
	for data := r.data; len(data) > 0; {
		n := min(pieceBytes, len(data))
		part := resource{data: data[:n], text: r.text}
		b := part.appendData((*piece)[:0])
		if _, err := w.Write(b[1 : len(b)-1]); err != nil {
			return err
		}
		*piece, data = b, data[n:]
	}
	_, err := w.Write(shell[cut:])
	return err
}

// pieceBytes is how much is encoded at a time: a multiple of three, for base64.
const pieceBytes = 48 << 10

var encodePieces = sync.Pool{New: func() any { b := make([]byte, 0, 2*pieceBytes); return &b }}

// encodeResource writes the result of resourceRead.
func (r *resource) encodeResource() ahp.Value {
	b := make([]byte, 0, r.dataSize()+3*len(r.contentType)+128)
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
	if r.text {
		b = appendEscaped(b, r.data)
	} else {
		b = base64.StdEncoding.AppendEncode(b, r.data)
	}
	return append(b, '"')
}

// escapes is how many bytes more than itself a byte takes inside a JSON string.
var escapes = func() (t [256]uint8) {
	for c := range 0x20 {
		t[c] = 5
	}
	for _, c := range `"\` + "\b\f\n\r\t" {
		t[c] = 1
	}
	return t
}()

// next returns the index of the first byte that needs an escape, or len(data).
// It looks at eight bytes at a time: most of a page needs none.
func next(data []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(data); i += 8 {
		x := binary.LittleEndian.Uint64(data[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		control := (x - ones*0x20) &^ x
		if (control|(quote-ones)&^quote|(slash-ones)&^slash)&high != 0 {
			break
		}
	}
	for ; i < len(data); i++ {
		if escapes[data[i]] != 0 {
			break
		}
	}
	return i
}

func escapedSize(data []byte) int {
	n := len(data)
	for {
		i := next(data)
		if i == len(data) {
			return n
		}
		n += int(escapes[data[i]])
		data = data[i+1:]
	}
}

// appendEscaped writes valid UTF-8 as the inside of a JSON string: what needs no
// escape is copied in runs.
func appendEscaped(b, data []byte) []byte {
	const hex = "0123456789abcdef"
	for {
		i := next(data)
		b = append(b, data[:i]...)
		if i == len(data) {
			return b
		}
		switch c := data[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		data = data[i+1:]
	}
}

// appendString writes a string of a provider's, which may be any bytes.
func appendString(b []byte, s string) []byte {
	return append(b, ahp.MustMarshal(strings.ToValidUTF8(s, "\uFFFD"))...)
}
