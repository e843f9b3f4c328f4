package scan_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// benchTexts are texts of resources, by how their strings look to a decoder.
func benchTexts() map[string]string {
	rnd := rand.New(rand.NewPCG(1, 2))
	var words strings.Builder // irregular distances between escapes
	for words.Len() < 64<<10 {
		words.WriteString(strings.Repeat("x", 1+rnd.IntN(30)))
		words.WriteString([]string{"\n", `"`, "\t", `\`}[rnd.IntN(4)])
	}
	return map[string]string{
		"lines":     "A line of plain text with \"quotes\" in it.\n",
		"plain":     "Plain text that needs no escape at all, which a minified page comes close to. ",
		"irregular": words.String(),
		"German":    "Über den Zeilen stehen Umlaute: schön, früh, größer.\n",
		"unicode":   "Ten of the\x01escapes that are\x02six bytes\x03long.\n",
		"Chinese":   "内容在到达时解码，并且只复制一次。\n",
	}
}

// BenchmarkDecodeText decodes a large text. The throughput counts encoded bytes.
func BenchmarkDecodeText(b *testing.B) {
	for name, text := range benchTexts() {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(text, 60<<10/len(text)+1)
			src := ahp.MustMarshal(text)
			src = src[1 : len(src)-1]
			dst := make([]byte, len(src))
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if n, taken, _, err := scan.DecodeText(dst, src); n != len(text) || taken != len(src) || err != nil {
					b.Fatal(n, taken, err)
				}
			}
		})
	}
}

type lastMember []byte

func (m *lastMember) Member(_, value []byte) { *m = value }

// BenchmarkScan checks a whole message, a short one and a long one.
func BenchmarkScan(b *testing.B) {
	for name, text := range benchTexts() {
		for _, size := range []int{300, 60 << 10} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				text := strings.ToValidUTF8(strings.Repeat(text, size/len(text)+1)[:size], "")
				msg := ahp.MustMarshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "m", "params": map[string]any{"text": text}})
				limits := scan.Limits{Depth: 64, Values: 1000, Uncounted: "inputSchema"}
				var params lastMember
				b.SetBytes(int64(len(msg)))
				for b.Loop() {
					params = params[:0]
					if _, err := scan.Check(msg, limits, &params); err != nil || len(params) == 0 {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
