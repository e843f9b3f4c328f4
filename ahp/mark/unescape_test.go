package mark

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// unescapers are the implementations of unescape on this processor.
var unescapers = map[string]func(dst, src []byte) (int, int, bool){"unescape": unescape, "plain": unescapePlain}

// unescapeOracle decodes byte by byte, up to the first byte that unescape must not
// take.
func unescapeOracle(src []byte) (text []byte, took int) {
	for took < len(src) {
		switch c := src[took]; {
		case c == '"', c < ' ':
			return text, took
		case c != '\\':
			text, took = append(text, c), took+1
		case took+1 == len(src) || strings.IndexByte(`"\/bfnrt`, src[took+1]) < 0:
			return text, took
		default:
			text, took = append(text, "\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, src[took+1])]), took+2
		}
	}
	return text, took
}

// checkUnescape compares both implementations with the oracle.
func checkUnescape(t *testing.T, src []byte) {
	t.Helper()
	text, most := unescapeOracle(src)
	for name, decode := range unescapers {
		dst := bytes.Repeat([]byte{'#'}, len(src)+Block)
		wrote, took, high := decode(dst[:len(src)], src)
		want, _ := unescapeOracle(src[:took])
		switch {
		case took > most || took < most && len(src)-took > Tail:
			t.Fatalf("%s of %q took %d, want %d", name, src, took, most)
		case wrote > len(dst) || !bytes.Equal(dst[:wrote], want) || !bytes.HasPrefix(text, want):
			t.Fatalf("%s of %q: %q, want %q", name, src, dst[:wrote], want)
		case !high && bytes.ContainsFunc(src[:took], func(r rune) bool { return r >= 0x80 }):
			t.Fatalf("%s of %q: not high", name, src)
		case bytes.Count(dst[len(src):], []byte{'#'}) != Block:
			t.Fatalf("%s of %q wrote behind what it may", name, src)
		}
	}
}

// TestUnescapeEveryByte: each byte, and each behind a backslash, at each place of
// a block that is not the first.
func TestUnescapeEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range 3 * Block {
			src := bytes.Repeat([]byte{'n'}, 8*Block)
			src[at] = byte(c)
			checkUnescape(t, src)
			src[at+1], src[at] = byte(c), '\\'
			checkUnescape(t, src)
		}
	}
}

// TestUnescapeRuns: runs of backslashes of each length from each place on, alone and
// behind another run. The letter behind them belongs to an escape only if the run
// is odd.
func TestUnescapeRuns(t *testing.T) {
	for _, letter := range []byte("nu\"\n") {
		for at := range 2 * Block {
			for n := range 2*Block + 2 {
				src := bytes.Repeat([]byte{'b'}, 8*Block)
				copy(src[Block+at:], bytes.Repeat([]byte{'\\'}, n))
				src[Block+at+n] = letter
				checkUnescape(t, src)
				copy(src[at:], `\\\`)
				src[at+3] = 't'
				checkUnescape(t, src)
			}
		}
	}
}

func TestUnescapeRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{`\n`, `\"`, `\\`, `\\\\`, `\/`, `\b`, `\f`, `\r`, `\t`, "é", "a", " ", "]", "text of some length", strings.Repeat("x", 70)}
	ends := []string{`\u00e9`, "\n", "\x00", `"`, `\q`, `\`, "\\\x80", "\\\n"}
	for range 5000 {
		var src []byte
		for range rnd.IntN(100) {
			src = append(src, pieces[rnd.IntN(len(pieces))]...)
		}
		if rnd.IntN(2) == 0 {
			src = append(src, ends[rnd.IntN(len(ends))]...)
			src = append(src, strings.Repeat("y", rnd.IntN(400))...)
		}
		checkUnescape(t, src)
	}
}

func TestUnescapeRoom(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("less room than text was taken")
		}
	}()
	Unescape(make([]byte, 2*Block-1), make([]byte, 2*Block))
}

func FuzzUnescape(f *testing.F) {
	f.Add(bytes.Repeat([]byte(`A line with \"quotes\", \\, \\\\, é and an end.\n`), 9))
	f.Add([]byte(strings.Repeat(`\\`, 200) + `\u00e9` + strings.Repeat(`\t`, 200)))
	f.Fuzz(checkUnescape)
}

func BenchmarkUnescape(b *testing.B) {
	src := bytes.Repeat([]byte(`A line of plain text with \"quotes\" in it.\n`), 1<<10)[:32<<10]
	dst := make([]byte, len(src))
	for name, decode := range unescapers {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				decode(dst, src)
			}
		})
	}
}
