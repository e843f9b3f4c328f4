package bridge

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// socketTag is the value of the member "x-ahp" in ws/1 messages.
const socketTag = "ws/1"

// The limits of ws/1 (PROTOCOL.md section 9), in bytes unless noted.
const (
	maxHost          = 255
	maxProtocols     = 32 // offered subprotocols
	maxProtocol      = 128
	maxReason        = 123
	partCost         = 64 // of a send or message, besides its data
	socketWindow     = 256 << 10
	socketsToPage    = 512 << 10
	ackSocket        = 64 << 10 // written bytes after which a WebSocket's window is granted
	ackSockets       = 32 << 10 // received bytes after which the host grants on the connection
	closeNoCode      = 1005
	closeAbnormal    = 1006
	closeGoingAway   = 1001
	firstPrivateCode = 3000
	lastPrivateCode  = 4999
)

// socketKind is the type of a ws/1 message of the page.
type socketKind uint8

const (
	socketUnknown socketKind = iota
	socketOpen
	socketSend
	socketCredit
	socketClose
)

var socketKinds = map[string]socketKind{"open": socketOpen, "send": socketSend, "credit": socketCredit, "close": socketClose}

// socketMessage is a ws/1 message of the page. Its kind decides which fields are used.
type socketMessage struct {
	kind      socketKind
	id        int64
	path      string
	host      string
	protocols []string
	seq       int64
	binary    bool
	more      bool
	data      []byte // decoded; the message owns it
	code      int    // closeNoCode if absent
	reason    string
	bytes     int64
	lane      int64
}

// cost returns what a message takes of the windows.
func (m *socketMessage) cost() int64 {
	if m.kind != socketSend {
		return 0
	}
	return partCost + int64(len(m.data))
}

var errSocketMessage = protocolError("the message is not valid ws/1")

// decodeSocket reads a payload. ours reports whether it is ws/1. A violation of PROTOCOL.md
// section 9 is an error; m.kind and m.id are then set as far as they could be read.
func decodeSocket(payload []byte) (m socketMessage, ours bool, err *Error) {
	if !bytes.Contains(payload, []byte(`"ws`)) {
		return m, false, nil
	}
	f := map[string][]byte{}
	duplicate := false
	members(payload, func(quoted, value []byte) {
		name, _ := text(quoted)
		duplicate = duplicate || f[name] != nil && name != ""
		f[name] = value
	})
	if tag, _ := text(f["x-ahp"]); tag != socketTag {
		return m, false, nil
	}
	name, named := text(f["type"])
	m.kind = socketKinds[name]
	id, hasID := integer(f["id"], maxID)
	m.id = id
	switch {
	case duplicate || !named || len(payload) > maxMessage:
		return m, true, errSocketMessage
	case m.kind == socketUnknown:
		return m, true, nil
	case !hasID || id == 0 && m.kind != socketCredit:
		m.id = 0
		return m, true, errSocketMessage
	}
	return m, true, m.read(f)
}

// read reads the members of the message's kind.
func (m *socketMessage) read(f map[string][]byte) *Error {
	switch m.kind {
	case socketOpen:
		return m.readOpen(f)
	case socketSend:
		return m.readSend(f)
	case socketClose:
		return m.readClose(f)
	}
	amounts := message{}
	err := amounts.readAmounts(&fields{bytes: f["bytes"], lane: f["lane"]})
	m.bytes, m.lane = amounts.bytes, amounts.lane
	return err
}

func (m *socketMessage) readOpen(f map[string][]byte) *Error {
	var ok bool
	if m.path, ok = text(f["path"]); !ok || !isPath(m.path) {
		return errSocketMessage
	}
	if len(m.path) > maxPath {
		return errPath
	}
	if v := f["host"]; v != nil {
		if m.host, ok = text(v); !ok || m.host == "" || len(m.host) > maxHost || !printable(m.host) {
			return errSocketMessage
		}
	}
	if v := f["protocols"]; v != nil {
		ok = elements(v, func(one []byte) bool {
			p, ok := text(one)
			m.protocols = append(m.protocols, p)
			return ok && isToken(p) && len(p) <= maxProtocol
		})
		if !ok || len(m.protocols) > maxProtocols || repeated(m.protocols) {
			return errSocketMessage
		}
	}
	return nil
}

func repeated(list []string) bool {
	seen := map[string]bool{}
	for _, one := range list {
		if seen[one] {
			return true
		}
		seen[one] = true
	}
	return false
}

func (m *socketMessage) readSend(f map[string][]byte) *Error {
	var ok bool
	if m.seq, ok = integer(f["seq"], maxID); !ok {
		return errSocketMessage
	}
	for _, flag := range []struct {
		text []byte
		to   *bool
	}{{f["binary"], &m.binary}, {f["more"], &m.more}} {
		switch string(flag.text) {
		case "true":
			*flag.to = true
		case "", "false":
		default:
			return errSocketMessage
		}
	}
	if f["data"] == nil {
		return nil
	}
	part := message{kind: body} // at most maxChunk
	err := part.readData(f["data"])
	m.data = part.data
	return err
}

func (m *socketMessage) readClose(f map[string][]byte) *Error {
	m.code = closeNoCode
	if v := f["code"]; v != nil {
		code, ok := integer(v, lastPrivateCode)
		if !ok || code != 1000 && code != closeGoingAway && code < firstPrivateCode {
			return errSocketMessage
		}
		m.code = int(code)
	}
	if v := f["reason"]; v != nil {
		var ok bool
		if m.reason, ok = text(v); !ok || len(m.reason) > maxReason || !utf8.ValidString(m.reason) || m.code == closeNoCode {
			return errSocketMessage
		}
	}
	return nil
}

// beginSocket returns the start of a ws/1 message, with a capacity for size more bytes.
func beginSocket(kind string, id int64, size int) []byte {
	b := append(make([]byte, 0, size+64), `{"x-ahp":"ws/1","type":"`...)
	b = append(append(b, kind...), `","id":`...)
	return strconv.AppendInt(b, id, 10)
}

// encodeOpened encodes that the app accepted a WebSocket.
func encodeOpened(id int64, protocol string) ahp.Value {
	b := beginSocket("opened", id, 64+len(protocol))
	if protocol != "" {
		b = ahp.AppendString(append(b, `,"protocol":`...), protocol)
	}
	return append(b, '}')
}

// encodePart encodes a part of a message of the app.
func encodePart(id, seq int64, binary, more bool, data []byte) ahp.Value {
	b := append(beginSocket("message", id, encoded(len(data))+64), `,"seq":`...)
	b = strconv.AppendInt(b, seq, 10)
	if binary {
		b = append(b, `,"binary":true`...)
	}
	if more {
		b = append(b, `,"more":true`...)
	}
	return finish(b, data, false, nil)
}

// encodeGrant encodes a grant; lane is the amount for the connection.
func encodeGrant(id, bytes, lane int64) ahp.Value {
	b := beginSocket("grant", id, 64)
	if bytes > 0 {
		b = strconv.AppendInt(append(b, `,"bytes":`...), bytes, 10)
	}
	if lane > 0 {
		b = strconv.AppendInt(append(b, `,"lane":`...), lane, 10)
	}
	return append(b, '}')
}

// socketEnd is how a WebSocket ended.
type socketEnd struct {
	code   int
	reason string
	clean  bool
	failed *Error // nil if the app or the page closed it
}

func encodeClosed(id int64, e socketEnd) ahp.Value {
	b := append(beginSocket("closed", id, 256), `,"code":`...)
	b = strconv.AppendInt(b, int64(e.code), 10)
	if e.reason != "" {
		b = ahp.AppendString(append(b, `,"reason":`...), e.reason)
	}
	if e.clean {
		b = append(b, `,"clean":true`...)
	}
	if e.failed != nil {
		b = appendString(append(b, `,"error":`...), e.failed.Code)
		b = appendString(append(b, `,"message":`...), plainText(e.failed.Message))
	}
	return append(b, '}')
}
