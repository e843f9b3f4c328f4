package peer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// gatherPieces passes data to g like a reader that gets step bytes at a time. data is
// the inside of a string and the text behind it.
func gatherPieces(g *gatherer, data []byte, step int) (used int, err error) {
	have := 0
	for {
		taken, closed, err := g.take(data[used : used+have])
		if used, have = used+taken, have-taken; err != nil || closed {
			return used, err
		}
		if used+have == len(data) {
			return used, scan.ErrSyntax
		}
		have = min(have+step, len(data)-used)
	}
}

// FuzzGather: decoding a string while it arrives has the same result, end and errors
// as the strict decoder.
func FuzzGather(f *testing.F) {
	for _, s := range []string{
		`plain"`, `a\"b\\c\/d\n"}]}`, `\ud83d\ude00"`, `\ud83d"`, `\udc00\ud800"`, `\u12`, `caf\u00e9 é 漢 😀"`, "\xff\"", "\xe6\xbc\"", "a\nb\"", `\q"`, `"`, ``,
		`YWJj"`, `YWI="`, `YQ=="`, `YQ==YQ=="`, `YWJj\nYWJj"`, `YWJj\/\/\/\/"`, `YQ="`, `Y"`, `YWJj====" `, `=YWJ"`, `Y\u0057Jj"`,
		strings.Repeat(`A line of plain text with \"quotes\" in it.\n`, 40) + `"`, strings.Repeat("YWJj", 100) + `YQ=="`, strings.Repeat("é", 50) + `"x`,
	} {
		for _, step := range []uint8{0, 6, 25, 200} {
			f.Add([]byte(s), step)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		want, end, ok := decodeString(data)
		for _, isBase64 := range []bool{false, true} {
			g := &gatherer{base64: isBase64}
			used, err := gatherPieces(g, data, 1+int(step)*int(step))
			if ok != (err == nil) || ok && used != end {
				t.Fatalf("base64 %v: %v at %d, want %v at %d", isBase64, err, used, ok, end)
			}
			if !ok {
				g.free()
				continue
			}
			got := g.done()
			text, valid := []byte(want), true
			if isBase64 {
				var err error
				text, err = base64.StdEncoding.DecodeString(want)
				valid = err == nil && !strings.ContainsAny(want, "\r\n")
			}
			if valid != (got.err == nil) || valid && !bytes.Equal(got.data, text) {
				t.Fatalf("base64 %v: %q %v, want %q %v", isBase64, got.data, got.err, text, valid)
			}
			g.free()
		}
	})
}

// TestDecodeText: escapes of all kinds at all places of a block, in pieces of any
// size, have the same result or error as with the strict decoder.
func TestDecodeText(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	good := []string{`\n`, `\"`, `\\`, `\\\\`, `\/`, `\u00e9`, `\ud83d\ude00`, `\u0000`, "é", "漢", "😀", "]", "[", "plain text of some length, which is copied", strings.Repeat("x", 64)}
	bad := []string{"\n", "\x1f", `\q`, `\ud83d`, `\udc00`, `\u12x4`, "\xff", "\xe6\xbc", "\xc3", "\xed\xa0\x80", `"`}
	for range 4000 {
		var data []byte
		for range rnd.IntN(60) {
			data = append(data, good[rnd.IntN(len(good))]...)
			data = append(data, strings.Repeat("y", rnd.IntN(20))...)
		}
		if rnd.IntN(2) == 0 {
			at := rnd.IntN(len(data) + 1)
			data = slices.Insert(data, at, []byte(bad[rnd.IntN(len(bad))])...)
		}
		data = append(data, `"tail`...)
		want, end, ok := decodeString(data)
		g := &gatherer{}
		used, err := gatherPieces(g, data, 1+rnd.IntN(2000))
		if ok != (err == nil) || ok && (used != end || string(g.done().data) != want) {
			t.Fatalf("%q: %v at %d, want %v at %d", data, err, used, ok, end)
		}
		g.free()
	}
}

// decodeString decodes the string whose inside is at the beginning of data.
func decodeString(data []byte) (text string, end int, ok bool) {
	quoted := append([]byte{'"'}, data...)
	d := json.NewDecoder(bytes.NewReader(quoted))
	var raw json.RawMessage
	if d.Decode(&raw) != nil || !utf8.Valid(raw) {
		return "", 0, false
	}
	if ahp.Unmarshal(ahp.Value(raw), &text) != nil {
		return "", 0, false
	}
	return text, len(raw) - 1, true
}
