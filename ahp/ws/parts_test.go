package ws

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// Parts arrive as one message, wherever the pieces end.
func TestPartsArriveAsOneMessage(t *testing.T) {
	p := connect(t, Options{}, Options{})
	many := make([]int, 3000)
	for i := range many {
		many[i] = i % 200
	}
	for _, sizes := range [][]int{
		{}, {0}, {1}, {125, 1}, many, {200_000}, {3, 2 * pieceSize, 5},
		{pieceSize - 4}, {pieceSize - 4, 1}, {pieceSize - 10}, {pieceSize - 10, 1}, {pieceSize - 11, 1, 1},
	} {
		parts := texts(sizes...)
		want := bytes.Join(parts, nil)
		failed := make(chan error, 1)
		go func() { failed <- p.host.WriteParts(len(want), slices.Values(parts)) }()
		got, err := readAll(p.client, 1)
		if err = errors.Join(err, <-failed); err != nil {
			t.Fatal(sizes, err)
		}
		if !bytes.Equal(want, got[0]) {
			t.Errorf("parts of %v bytes: got %d, want %d", sizes[:min(9, len(sizes))], len(got[0]), len(want))
		}
	}
}

// Parts of another size than announced close the connection, and never arrive as a
// message.
func TestPartsOfAnotherSize(t *testing.T) {
	for name, c := range map[string]struct {
		size  int
		parts []int
		code  CloseCode // as the other side sees it
	}{
		"too many":            {10, []int{11}, CodeInternal},
		"too few":             {10, []int{9}, CodeInternal},
		"too many, and begun": {2 * pieceSize, []int{pieceSize, pieceSize, 1}, CodeLost},
		"too few, and begun":  {2 * pieceSize, []int{pieceSize, pieceSize - 1}, CodeLost},
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, Options{}, Options{})
			go p.host.WriteParts(c.size, slices.Values(texts(c.parts...)))
			_, err := readAll(p.client, 1)
			if e, ok := errors.AsType[*CloseError](err); !ok || e.Code != c.code {
				t.Errorf("read %v, want code %d", err, c.code)
			}
			if e, ok := errors.AsType[*CloseError](p.host.Err()); !ok || e.Code != CodeInternal {
				t.Errorf("ended with %v", p.host.Err())
			}
		})
	}
}
