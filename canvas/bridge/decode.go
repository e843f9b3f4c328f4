package bridge

import (
	"encoding/base64"
	"unicode/utf8"

	wide "github.com/segmentio/asm/base64"
)

// fields are the raw members of a message; nil is absent.
type fields struct {
	tag, kind, id                  []byte
	method, path, headers, length  []byte
	chunk                          []byte
	seq, end, trailers, data       []byte
	status, statusText, code, text []byte
	bytes, lane                    []byte
	reason                         []byte
	duplicate                      bool
}

// slot returns the field for a member name, nil for an unknown one.
func (f *fields) slot(name string) *[]byte {
	switch name {
	case "x-ahp":
		return &f.tag
	case "type":
		return &f.kind
	case "id":
		return &f.id
	case "seq":
		return &f.seq
	case "end":
		return &f.end
	case "data":
		return &f.data
	case "bytes":
		return &f.bytes
	case "lane":
		return &f.lane
	case "method":
		return &f.method
	case "path":
		return &f.path
	case "headers":
		return &f.headers
	case "length":
		return &f.length
	case "chunk":
		return &f.chunk
	case "status":
		return &f.status
	case "statusText":
		return &f.statusText
	case "trailers":
		return &f.trailers
	case "code":
		return &f.code
	case "message":
		return &f.text
	case "reason":
		return &f.reason
	}
	return nil
}

// split reads a payload's members. ours reports whether the payload is http/1, valid or
// not.
func split(payload []byte) (f fields, ours bool) {
	members(payload, func(quoted, value []byte) {
		name, _ := text(quoted)
		if at := f.slot(name); at != nil {
			f.duplicate = f.duplicate || *at != nil
			*at = value
		}
	})
	said, _ := text(f.tag)
	return f, said == tag
}

// decode reads a payload. ours reports whether it is http/1. A violation of PROTOCOL.md
// section 2 is an error; m.kind and m.id are then set as far as they could be read. An
// unknown type is not an error, but has the kind unknown.
func decode(payload []byte) (m message, ours bool, err *Error) {
	f, ours := split(payload)
	if !ours {
		return m, false, nil
	}
	name, named := text(f.kind)
	m.kind = kinds[name]
	id, hasID := integer(f.id, maxID)
	m.id = id
	switch {
	case f.duplicate || !named || len(payload) > maxMessage:
		return m, true, errMalformed
	case m.kind == unknown:
		return m, true, nil
	case !hasID || id == 0 && m.kind != credit && m.kind != grant:
		m.id = 0
		return m, true, errMalformed
	}
	return m, true, m.read(&f)
}

var errMalformed = protocolError("the message is not valid http/1")

// read reads the members of the message's kind.
func (m *message) read(f *fields) *Error {
	switch m.kind {
	case request:
		return m.readRequest(f)
	case response:
		return m.readResponse(f)
	case body, data:
		var ok bool
		if m.seq, ok = integer(f.seq, maxID); !ok {
			return errMalformed
		}
		return m.readBody(f)
	case credit, grant:
		return m.readAmounts(f)
	case cancel:
		return m.readReason(f)
	default:
		return m.readError(f)
	}
}

func (m *message) readRequest(f *fields) *Error {
	var ok bool
	if m.method, ok = text(f.method); !ok || !isToken(m.method) || len(m.method) > 32 {
		return errMalformed
	}
	if m.path, ok = text(f.path); !ok || !isPath(m.path) {
		return errMalformed
	}
	if len(m.path) > maxPath {
		return errPath
	}
	m.length = -1
	if f.length != nil {
		if m.length, ok = integer(f.length, maxID); !ok {
			return errMalformed
		}
	}
	if f.chunk != nil {
		if m.chunk, ok = integer(f.chunk, maxID); !ok || m.chunk < maxChunk {
			return errMalformed
		}
	}
	return m.readHead(f)
}

func (m *message) readResponse(f *fields) *Error {
	if !m.readStatus(f) {
		return errMalformed
	}
	if f.statusText != nil {
		var ok bool
		if m.statusText, ok = text(f.statusText); !ok || len(m.statusText) > 64 || !printable(m.statusText) {
			return errMalformed
		}
	}
	return m.readHead(f)
}

func (m *message) readStatus(f *fields) bool {
	status, ok := integer(f.status, 599)
	m.status = int(status)
	return ok && status >= 200
}

// readHead reads headers, and the part of the body in the same message.
func (m *message) readHead(f *fields) (err *Error) {
	if m.headers, err = readHeaders(f.headers); err != nil {
		return err
	}
	return m.readBody(f)
}

func (m *message) readBody(f *fields) (err *Error) {
	switch string(f.end) {
	case "true":
		m.end = true
	case "", "false":
	default:
		return errMalformed
	}
	if f.trailers != nil {
		if m.trailers, err = readHeaders(f.trailers); err != nil {
			return err
		}
	}
	if f.data == nil {
		return nil
	}
	return m.readData(f.data)
}

// readData decodes base64 into a new buffer.
func (m *message) readData(v []byte) *Error {
	most := maxChunk
	if m.kind == response || m.kind == data {
		most = maxLargeChunk // a Client asks for large chunks
	}
	if len(v) < 2 || v[0] != '"' || len(v)-2 > encoded(most) || len(v)%4 != 2 {
		return errMalformed
	}
	v = v[1 : len(v)-1]
	if len(v) == 0 {
		return nil
	}
	padding := 0
	for padding < 2 && v[len(v)-1-padding] == '=' {
		padding++
	}
	// The SIMD decoder reads all but the end, and the strict one the end, because the
	// bits behind the padding must be 0. Both skip line breaks, so the lengths are checked.
	out, end := make([]byte, len(v)/4*3), len(v)-4
	n, err := wide.StdEncoding.Decode(out, v[:end])
	if err != nil || n != end/4*3 {
		return errMalformed
	}
	last, err := base64.StdEncoding.Strict().Decode(out[n:], v[end:])
	if err != nil || last != 3-padding {
		return errMalformed
	}
	m.data = out[:n+last]
	return nil
}

func (m *message) readAmounts(f *fields) *Error {
	for _, amount := range []struct {
		text []byte
		to   *int64
	}{{f.bytes, &m.bytes}, {f.lane, &m.lane}} {
		if amount.text == nil {
			continue
		}
		n, ok := integer(amount.text, maxAmount)
		if !ok || n == 0 {
			return errMalformed
		}
		*amount.to = n
	}
	return nil
}

func (m *message) readReason(f *fields) *Error {
	var ok bool
	if f.reason == nil {
		return nil
	}
	if m.text, ok = text(f.reason); !ok || utf8.RuneCountInString(m.text) > 64 {
		return errMalformed
	}
	return nil
}

func (m *message) readError(f *fields) *Error {
	var okCode, okText bool
	m.code, okCode = text(f.code)
	m.text, okText = text(f.text)
	if !m.readStatus(f) || !okCode || !okText || !isToken(m.code) || len(m.code) > 32 || utf8.RuneCountInString(m.text) > maxText {
		return errMalformed
	}
	return nil
}
