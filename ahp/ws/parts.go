package ws

import "iter"

// WriteParts writes one message of size bytes in all, whose parts follow each other,
// as WriteBatch writes a large one; they are gathered in pieces of 64 KiB and not
// copied together before. Parts that are not size bytes end the connection with
// CodeInternal. It is for an accepted connection, as WriteFramed is.
func (c *Conn) WriteParts(size int, parts iter.Seq[[]byte]) error {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	w := gathered{c: c, left: size}
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

// gathered is what was gathered of a message.
type gathered struct {
	c     *Conn
	buf   []byte
	left  int  // bytes of the message that are still to come
	begun bool // the socket has its beginning
}

func (w *gathered) add(part []byte) error {
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

func (w *gathered) flush() error {
	write := w.c.write
	if w.begun {
		write = w.c.rest
	}
	err := write(w.buf)
	w.buf, w.begun = w.buf[:0], true
	return err
}

// wrongSize ends the connection; without a word, where that would be taken for a part
// of the message.
func (w *gathered) wrongSize() error {
	return w.c.shut(&CloseError{Code: CodeInternal, Reason: "a message could not be completed"}, !w.begun)
}
