package bridge

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/segmentio/asm/base64"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The encoders write a message in one pass into a new buffer, except appendChunk, which
// uses its caller's. Callers check sizes.

// encoded returns the base64 size of n bytes.
func encoded(n int) int { return base64.StdEncoding.EncodedLen(n) }

// begin returns the start of a message, with a capacity for room more bytes.
func begin(kind string, id int64, room int) []byte {
	return appendBegin(make([]byte, 0, room+80), kind, id)
}

func appendBegin(b []byte, kind string, id int64) []byte {
	b = append(b, `{"x-ahp":"http/1","type":"`...)
	b = append(b, kind...)
	b = append(b, `","id":`...)
	return strconv.AppendInt(b, id, 10)
}

// appendHead encodes a response's head without its end, so that data can follow.
func appendHead(id int64, status int, statusText string, headers []header) []byte {
	b := begin("response", id, 64+headersSize(headers))
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	if statusText != "" {
		b = append(b, `,"statusText":`...)
		b = appendString(b, statusText)
	}
	b = append(b, `,"headers":`...)
	return appendHeaders(b, headers)
}

// appendRequest encodes a request without its end, so that data can follow.
func appendRequest(m *message) []byte {
	b := begin("request", m.id, len(m.path)+64+headersSize(m.headers))
	b = append(b, `,"method":`...)
	b = appendString(b, m.method)
	b = append(b, `,"path":`...)
	b = appendString(b, m.path)
	b = append(b, `,"headers":`...)
	b = appendHeaders(b, m.headers)
	if m.length >= 0 {
		b = append(b, `,"length":`...)
		b = strconv.AppendInt(b, m.length, 10)
	}
	if m.chunk > 0 {
		b = append(b, `,"chunk":`...)
		b = strconv.AppendInt(b, m.chunk, 10)
	}
	return b
}

// appendChunk appends a body or data message without its end.
func appendChunk(b []byte, kind string, id, seq int64) []byte {
	b = append(appendBegin(b, kind, id), `,"seq":`...)
	return strconv.AppendInt(b, seq, 10)
}

// finish completes a head or chunk with end, trailers and data.
func finish(b []byte, data []byte, end bool, trailers []header) ahp.Value {
	if end {
		b = append(b, `,"end":true`...)
	}
	if len(trailers) > 0 {
		b = append(b, `,"trailers":`...)
		b = appendHeaders(b, trailers)
	}
	if len(data) > 0 {
		b = append(b, `,"data":"`...)
		size := encoded(len(data))
		b = slices.Grow(b, size+2)
		base64.StdEncoding.Encode(b[len(b):len(b)+size], data)
		b = append(b[:len(b)+size], '"')
	}
	return append(b, '}')
}

// fits reports whether data fits into the message that begins with head.
func fits(head []byte, size int) bool { return len(head)+encoded(size)+64 <= maxMessage }

// encodeAmounts encodes a credit or a grant; lane is the amount for the connection.
func encodeAmounts(kind string, id, bytes, lane int64) ahp.Value {
	b := begin(kind, id, 64)
	if bytes > 0 {
		b = append(b, `,"bytes":`...)
		b = strconv.AppendInt(b, bytes, 10)
	}
	if lane > 0 {
		b = append(b, `,"lane":`...)
		b = strconv.AppendInt(b, lane, 10)
	}
	return append(b, '}')
}

func encodeCancel(id int64, reason string) ahp.Value {
	b := append(begin("cancel", id, 64), `,"reason":`...)
	return append(appendString(b, reason), '}')
}

func encodeError(id int64, e *Error) ahp.Value {
	b := append(begin("error", id, 128+len(e.Message)), `,"status":`...)
	b = strconv.AppendInt(b, int64(e.Status), 10)
	b = append(b, `,"code":`...)
	b = appendString(b, e.Code)
	b = append(b, `,"message":`...)
	return append(appendString(b, plainText(e.Message)), '}')
}

// headersSize estimates the encoded size of headers.
func headersSize(headers []header) int {
	n := 2
	for _, h := range headers {
		n += len(h.name) + len(h.value) + 8
	}
	return n
}

func appendHeaders(b []byte, headers []header) []byte {
	b = append(b, '[')
	for i, h := range headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = appendString(b, h.name)
		b = append(b, ',')
		b = appendString(b, h.value)
		b = append(b, ']')
	}
	return append(b, ']')
}

// appendString appends a byte string: each byte is a character U+0000 to U+00FF.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			b = utf8.AppendRune(b, rune(c))
		}
	}
	return append(b, '"')
}

// plainText returns at most maxText characters of a text, with others than printable
// ASCII replaced.
func plainText(s string) string {
	out := make([]byte, 0, min(len(s), maxText))
	for _, r := range s {
		if len(out) == maxText {
			break
		}
		if r < ' ' || r > '~' {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return string(out)
}
