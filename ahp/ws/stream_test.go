package ws

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// Bytes appended to AvailableBuffer and bytes from other memory arrive in order. The
// message is read while it arrives.
func TestStreamBuffer(t *testing.T) {
	p := connect(t, Options{ReadLimit: 2 << 20}, Options{})
	for name, ends := range map[string][2]*Conn{"host to client": {p.host, p.client}, "client to host": {p.client, p.host}} {
		var want bytes.Buffer
		failed := make(chan error, 1)
		go func() {
			failed <- ends[0].Stream(func(w io.Writer) error {
				for i, chunk := range texts(1, 2*pieceSize, 700, 100, pieceSize-1, 900, 3) {
					own := w.(StreamBuffer).AvailableBuffer()
					if cap(own) < minBuffer {
						return errors.New("there is less room than promised")
					}
					own = append(own, bytes.Repeat([]byte{byte('a' + i)}, minBuffer)...)
					want.Write(own)
					want.Write(chunk)
					if _, err := w.Write(own); err != nil {
						return err
					}
					if _, err := w.Write(chunk); err != nil {
						return err
					}
				}
				return nil
			})
		}()
		m, err := ends[1].NextMessage()
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := io.ReadAll(m)
		if err := errors.Join(err, <-failed); err != nil {
			t.Error(name, err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: have %d bytes, want %d", name, len(got), want.Len())
		}
	}
}
