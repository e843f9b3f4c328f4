package contentjson

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestEscapeFits: whatever the room, what escape has written is the escaped form
// of what it took, within the room, and it stops only for want of them.
func TestEscapeFits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	piece := []string{"plain text ", "\n", `"`, `\`, "\x00", "\x1f", "é", "漢", strings.Repeat("x", 70), strings.Repeat("\x01", 70)}
	for range 3000 {
		var b []byte
		for range rnd.IntN(40) {
			b = append(b, piece[rnd.IntN(len(piece))]...)
		}
		dst := bytes.Repeat([]byte{'#'}, escapeSlack+rnd.IntN(1600))
		n, taken := escape(dst, b)
		if n > len(dst) || taken < len(b) && n+escapeSlack <= len(dst) {
			t.Fatalf("%d of %d bytes became %d in a room of %d", taken, len(b), n, len(dst))
		}
		if want := escapedSize(b[:taken]); n != want {
			t.Fatalf("%d bytes became %d, want %d", taken, n, want)
		}
		var got string
		if taken == len(b) {
			if err := json.Unmarshal([]byte(`"`+string(dst[:n])+`"`), &got); err != nil || got != string(b) {
				t.Fatalf("%q became %q: %v", b, dst[:n], err)
			}
		}
	}
}

// BenchmarkEscape is the inner loop of a large text's first read, in bytes of
// the text.
func BenchmarkEscape(b *testing.B) {
	for name, text := range map[string]string{
		"lines":   "A line of plain text with \"quotes\" in it.\n",
		"plain":   "Plain text that needs no escape at all, which a minified page comes close to. ",
		"Chinese": "内容在到达时解码，并且只复制一次。\n",
	} {
		b.Run(name, func(b *testing.B) {
			src := []byte(strings.Repeat(text, 60<<10/len(text)))
			dst := make([]byte, 2*len(src)+escapeSlack)
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, taken := escape(dst, src); taken != len(src) {
					b.Fatal(taken)
				}
			}
		})
	}
}

func BenchmarkEscapedSize(b *testing.B) {
	src := []byte(strings.Repeat("A line of plain text with \"quotes\" in it.\n", 1000))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		escapedSize(src)
	}
}
