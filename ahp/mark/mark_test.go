package mark

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// oracle marks byte by byte.
func oracle(marks []uint64, text []byte) (high bool) {
	clear(marks)
	for i, c := range text {
		if c == '"' || c == '\\' || c < ' ' {
			marks[i/Block] |= 1 << (i % Block)
		}
		high = high || c >= 0x80
	}
	return high
}

// finders are the implementations of special on this processor.
var finders = map[string]func([]uint64, []byte) bool{"special": special, "plain": specialPlain}

// check compares both implementations with the oracle, on the whole blocks of text.
func check(t *testing.T, text []byte) {
	t.Helper()
	n := len(text) / Block
	text = text[:n*Block]
	want := make([]uint64, n)
	high := oracle(want, text)
	for name, find := range finders {
		got := slices.Repeat([]uint64{^uint64(0)}, n+1) // the last word must not change
		if h := find(got[:n], text); h != high || !slices.Equal(got[:n], want) || got[n] != ^uint64(0) {
			t.Fatalf("%s of %q: %x and high %v, want %x and %v", name, text, got, h, want, high)
		}
	}
}

// TestEveryByte: each byte at each place, among neighbors that a borrow or a carry
// would change.
func TestEveryByte(t *testing.T) {
	for _, around := range []byte{'a', 0, 0x1f, ' ', '!', '"', '#', '[', '\\', ']', 0x7f, 0x80, 0xa2, 0xdc, 0xff} {
		for c := range 256 {
			for at := range Block {
				text := bytes.Repeat([]byte{around}, Block)
				text[at] = byte(c)
				check(t, text)
			}
		}
	}
}

func TestRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		text := make([]byte, Block*rnd.IntN(9)+rnd.IntN(8))
		for i := range text {
			text[i] = byte(rnd.Uint32())
		}
		check(t, text[min(len(text), rnd.IntN(8)):]) // at any alignment
	}
}

func TestLengths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a text that is not a multiple of a block")
		}
	}()
	Special(make([]uint64, 2), make([]byte, 2*Block-1))
}

func FuzzSpecial(f *testing.F) {
	f.Add(bytes.Repeat([]byte("A line with \"quotes\", \\, é and an end.\n"), 4))
	f.Fuzz(check)
}

func BenchmarkSpecial(b *testing.B) {
	text := bytes.Repeat([]byte("A line of plain text with \\\"quotes\\\" in it.\\n"), 1<<10)[:32<<10]
	marks := make([]uint64, len(text)/Block)
	for name, find := range finders {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				find(marks, text)
			}
		})
	}
}
