package peer

import (
	"bytes"
	"errors"
	"sync"

	"github.com/segmentio/asm/base64"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// pieceSize is how many bytes of a payload are decoded at a time. They stay in the
// processor's cache.
const pieceSize = 64 << 10

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

func getPiece() []byte  { return pieces.Get().(*[pieceSize]byte)[:] }
func putPiece(p []byte) { pieces.Put((*[pieceSize]byte)(p[:pieceSize])) }

// gatherer decodes a string while it arrives. It keeps the result in pieces until
// the length is known, because growing one slice clears and copies several times as
// many bytes.
type gatherer struct {
	base64 bool
	parts  [][]byte // pooled; the last one is being filled

	// For base64 only.
	ended    bool   // padding was found
	indirect bool   // the string has escapes or is not base64, so text is decoded first
	text     []byte // pooled; if indirect, the decoded text of an incomplete group of four
	err      error
}

var errBase64 = errors.New("the answer cannot be read: want base64")

// take decodes more of the string. src is at least three bytes shorter than a piece.
// It returns how many bytes it took, and whether the string ends there. The error
// is one of JSON. Errors of base64 are returned by done.
func (g *gatherer) take(src []byte) (taken int, closed bool, err error) {
	if !g.base64 {
		n, taken, closed, err := scan.DecodeText(g.space(len(src)), src)
		g.add(n)
		return taken, closed, err
	}
	if !g.indirect {
		end := bytes.IndexByte(src, '"')
		if end >= 0 && g.groups(src[:end]) {
			return end + 1, true, nil
		}
		if whole := len(src) &^ 3; end < 0 && g.groups(src[:whole]) {
			return whole, false, nil
		}
		g.indirect, g.text = true, getPiece()[:0]
	}
	n, taken, closed, err := scan.DecodeText(g.text[len(g.text):pieceSize], src)
	g.text = g.text[:len(g.text)+n]
	whole := len(g.text) &^ 3
	if !g.groups(g.text[:whole]) {
		g.err = errBase64
	}
	g.text = append(g.text[:0], g.text[whole:]...)
	return taken, closed, err
}

// groups decodes groups of four characters, and reports whether text is valid base64.
// Every character of its alphabet is valid in a JSON string.
func (g *gatherer) groups(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	n, err := base64.StdEncoding.Decode(g.space(len(text)), text)
	padding := len(text) - len(bytes.TrimRight(text, "="))
	if err != nil || g.ended || len(text)%4 != 0 || n != len(text)/4*3-padding { // the decoder skips line ends, which makes n smaller
		return false
	}
	g.ended = padding > 0
	g.add(n)
	return true
}

// room returns space for n bytes, at most a piece.
func (g *gatherer) space(n int) []byte {
	if k := len(g.parts); k == 0 || pieceSize-len(g.parts[k-1]) < n {
		g.parts = append(g.parts, getPiece()[:0])
	}
	last := g.parts[len(g.parts)-1]
	return last[len(last):pieceSize]
}

// add keeps the first n bytes of the space.
func (g *gatherer) add(n int) {
	last := &g.parts[len(g.parts)-1]
	*last = (*last)[:len(*last)+n]
}

// done returns the whole string in new memory.
func (g *gatherer) done() *payload {
	if g.err != nil || len(g.text) > 0 {
		return &payload{err: errBase64}
	}
	data := bytes.Join(g.parts, nil) // unlike slices.Concat, Join does not clear the new memory
	if data == nil {
		data = []byte{}
	}
	return &payload{data: data}
}

// free returns the pieces to the pool.
func (g *gatherer) free() {
	for _, p := range g.parts {
		putPiece(p)
	}
	if g.text != nil {
		putPiece(g.text)
	}
}
