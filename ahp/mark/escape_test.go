package mark

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// escapers are the implementations of escape on this processor.
var escapers = map[string]func(dst, src []byte) (int, int){"escape": escape, "plain": escapePlain}

// escapeOracle escapes byte by byte, up to the first byte that escape must not take.
func escapeOracle(src []byte) (text []byte, took int) {
	for _, c := range src {
		switch at := strings.IndexByte("\"\\\b\f\n\r\t", c); {
		case at >= 0:
			text = append(text, '\\', `"\bfnrt`[at])
		case c < ' ':
			return text, took
		default:
			text = append(text, c)
		}
		took++
	}
	return text, took
}

// checkEscape compares both implementations with the oracle. space is the length of
// the output.
func checkEscape(t *testing.T, src []byte, space uint16) {
	t.Helper()
	text, most := escapeOracle(src)
	for name, encode := range escapers {
		dst := bytes.Repeat([]byte{'#'}, int(space)+Block)
		wrote, took := encode(dst[:space:space], src)
		want, _ := escapeOracle(src[:min(took, most)])
		switch {
		case took > most || took < most && len(src)-took >= Tail && int(space)-wrote >= Tail:
			t.Fatalf("%s of %q into %d took %d, want %d", name, src, space, took, most)
		case wrote > int(space) || !bytes.Equal(dst[:wrote], want) || !bytes.HasPrefix(text, want):
			t.Fatalf("%s of %q: %q, want %q", name, src, dst[:wrote], want)
		case bytes.Count(dst[space:], []byte{'#'}) != Block:
			t.Fatalf("%s of %q wrote behind its output", name, src)
		}
	}
}

// TestEscapeEveryByte: each byte at each place of two blocks, among plain bytes and
// among bytes that need an escape.
func TestEscapeEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range 2 * Block {
			for _, around := range []byte("n\"\n") {
				src := bytes.Repeat([]byte{around}, 8*Block)
				src[at] = byte(c)
				checkEscape(t, src, 16*Block)
			}
		}
	}
}

func TestEscapeRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"\n", `"`, `\`, "\t", "\b", "\f", "\r", "/", "é", "a", " ", "text of some length", strings.Repeat("x", 70)}
	for range 5000 {
		var src []byte
		for range rnd.IntN(100) {
			src = append(src, pieces[rnd.IntN(len(pieces))]...)
		}
		if rnd.IntN(2) == 0 {
			src = append(src, byte(rnd.IntN(' ')))
			src = append(src, strings.Repeat("y", rnd.IntN(400))...)
		}
		checkEscape(t, src, uint16(rnd.IntN(3*len(src)+1)))
	}
}

func FuzzEscape(f *testing.F) {
	f.Add(bytes.Repeat([]byte("A line with \"quotes\", \\, é and an end.\n"), 9), uint16(1000))
	f.Add([]byte(strings.Repeat("\t", 200)+"\x01"+strings.Repeat("x", 300)), uint16(300))
	f.Fuzz(checkEscape)
}

func BenchmarkEscape(b *testing.B) {
	src := bytes.Repeat([]byte("A line of plain text with \"quotes\" in it.\n"), 1<<10)[:32<<10]
	dst := make([]byte, 2*len(src))
	for name, encode := range escapers {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				encode(dst, src)
			}
		})
	}
}
