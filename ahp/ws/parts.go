package ws

import "iter"

// WriteParts writes one message in several parts, which have size bytes in all. It
// writes them in pieces of 64 KiB, without copying them into one. If the parts have
// another size, the connection is closed with CodeInternal. The connection must be an
// accepted one that is not sealed. The rest is as with WriteBatch.
func (c *Conn) WriteParts(size int, parts iter.Seq[[]byte]) error {
	if c.sealed != nil {
		return c.refuseClear()
	}
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	c.out.writing <- struct{}{}
	defer func() { <-c.out.writing }()
	w := partsWriter{out: &c.out, left: size}
	w.buf, _ = appendHeader((*piece)[:0], opText|bitFinal, size, false)
	for part := range parts {
		if err := w.add(part); err != nil {
			return err
		}
	}
	if w.left > 0 {
		return w.wrongSize()
	}
	return w.flush()
}

// partsWriter writes the parts of a message in pieces.
type partsWriter struct {
	out   *writer
	buf   []byte
	left  int  // bytes of the message that have not been added
	begun bool // the beginning of the message has been written
}

// add adds a part, and writes the pieces that are full.
func (w *partsWriter) add(part []byte) error {
	if w.left -= len(part); w.left < 0 {
		return w.wrongSize()
	}
	for len(part) > 0 {
		if len(w.buf) == cap(w.buf) {
			if err := w.flush(); err != nil {
				return err
			}
		}
		n := min(cap(w.buf)-len(w.buf), len(part))
		w.buf, part = append(w.buf, part[:n]...), part[n:]
	}
	return nil
}

// flush writes the current piece.
func (w *partsWriter) flush() error {
	write := w.out.write
	if w.begun {
		write = w.out.writeAll
	}
	err := write(w.buf)
	w.buf, w.begun = w.buf[:0], true
	return err
}

// wrongSize closes the connection, without a close frame if the peer would take that for
// a part of the message.
func (w *partsWriter) wrongSize() error {
	return w.out.shut(&CloseError{Code: CodeInternal, Reason: "a message has another size than announced"}, !w.begun)
}
