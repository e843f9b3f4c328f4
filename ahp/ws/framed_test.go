//go:build unix

package ws

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Framed messages arrive in order among others, whether or not the socket takes them at
// once, and however long they are.
func TestFramedMessagesArriveWhole(t *testing.T) {
	p := connectTCP(t, Options{})
	var parts, msgs [][]byte
	for range 20 {
		for _, together := range [][][]byte{texts(1), texts(0, 1, 125, 126), texts(20_000, 20_000), texts(30_000, 40_000, 5), texts(pieceSize), texts(9, 8)} {
			parts = append(parts, Framed(together))
			msgs = append(msgs, together...)
		}
	}
	alone := texts(7)
	cut := make(chan int, 1)
	go func() {
		waited := 0
		for left := parts; len(left) > 0; {
			n := p.host.TryWriteFramed(left[:min(4, len(left))])
			if n == 0 {
				waited++
				n = min(2, len(left))
				if err := p.host.WriteFramed(left[:n]); err != nil {
					t.Error(err)
					break
				}
			}
			left = left[n:]
		}
		if err := p.host.WriteBatch(alone); err != nil {
			t.Error(err)
		}
		cut <- waited
	}()
	got, err := readAll(p.client, len(msgs)+1)
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(append(msgs, alone...), got, cmp.Comparer(bytes.Equal)) {
		t.Error("messages differ")
	}
	if waited := <-cut; waited == 0 || waited == len(parts) {
		t.Errorf("%d of %d parts were waited for: want some", waited, len(parts))
	}
}
