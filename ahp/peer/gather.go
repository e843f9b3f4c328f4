package peer

import (
	"bytes"
	"errors"
	"sync"

	"github.com/segmentio/asm/base64"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// pieceSize is how much of a payload is decoded at a time: little enough to stay
// in the processor's cache.
const pieceSize = 64 << 10

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

func getPiece() []byte  { return pieces.Get().(*[pieceSize]byte)[:] }
func putPiece(p []byte) { pieces.Put((*[pieceSize]byte)(p[:pieceSize])) }

// gatherer decodes a string while it arrives, and keeps it in pieces until its
// length is known: growing one slice would clear and copy several times that.
type gatherer struct {
	base64 bool
	parts  [][]byte // pooled; the last one is being filled

	// Of base64 only.
	ended    bool   // there was padding
	indirect bool   // the string is not just its base64, but has escapes, or is none
	text     []byte // pooled; then: text of less than a group of four
	err      error
}

var errBase64 = errors.New("the answer cannot be read: want base64")

// take decodes what there is of the string, src, which is at least three bytes
// shorter than a piece. It returns how much it took, and whether the string ends
// with that. An error is one of JSON; one of base64 is done's.
func (g *gatherer) take(src []byte) (taken int, closed bool, err error) {
	if !g.base64 {
		n, taken, closed, err := scan.DecodeText(g.room(len(src)), src)
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

// groups decodes whole groups of four, and reports whether they are that. The
// alphabet has nothing that JSON would refuse.
func (g *gatherer) groups(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	n, err := base64.StdEncoding.Decode(g.room(len(text)), text)
	padding := len(text) - len(bytes.TrimRight(text, "="))
	if err != nil || g.ended || len(text)%4 != 0 || n != len(text)/4*3-padding { // a line end makes n smaller
		return false
	}
	g.ended = padding > 0
	g.add(n)
	return true
}

// room returns space for n bytes, at most a piece.
func (g *gatherer) room(n int) []byte {
	if k := len(g.parts); k == 0 || pieceSize-len(g.parts[k-1]) < n {
		g.parts = append(g.parts, getPiece()[:0])
	}
	last := g.parts[len(g.parts)-1]
	return last[len(last):pieceSize]
}

// add keeps n bytes of the room.
func (g *gatherer) add(n int) {
	last := &g.parts[len(g.parts)-1]
	*last = (*last)[:len(*last)+n]
}

// done returns all of it, in new memory.
func (g *gatherer) done() *payload {
	if g.err != nil || len(g.text) > 0 {
		return &payload{err: errBase64}
	}
	data := bytes.Join(g.parts, nil) // which clears nothing, other than slices.Concat
	if data == nil {
		data = []byte{}
	}
	return &payload{data: data}
}

// free gives the pieces back.
func (g *gatherer) free() {
	for _, p := range g.parts {
		putPiece(p)
	}
	if g.text != nil {
		putPiece(g.text)
	}
}
