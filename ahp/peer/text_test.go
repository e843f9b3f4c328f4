package peer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// gatherPieces takes a string's inside, with what follows it, as a reader that
// is given step bytes at a time would.
func gatherPieces(g *gatherer, data []byte, step int) (used int, err error) {
	have := 0
	for {
		taken, closed, err := g.take(data[used : used+have])
		if used, have = used+taken, have-taken; err != nil || closed {
			return used, err
		}
		if used+have == len(data) {
			return used, errSyntax
		}
		have = min(have+step, len(data)-used)
	}
}

// FuzzGather: a string that is decoded while it arrives is the string that the
// strict decoder finds, ends where that ends, and is refused where that refuses.
func FuzzGather(f *testing.F) {
	for _, s := range []string{
		`plain"`, `a\"b\\c\/d\n"}]}`, `\ud83d\ude00"`, `\ud83d"`, `\udc00\ud800"`, `\u12`, `caf\u00e9 é 漢 😀"`, "\xff\"", "\xe6\xbc\"", "a\nb\"", `\q"`, `"`, ``,
		`YWJj"`, `YWI="`, `YQ=="`, `YQ==YQ=="`, `YWJj\nYWJj"`, `YWJj\/\/\/\/"`, `YQ="`, `Y"`, `YWJj====" `, `=YWJ"`, `Y\u0057Jj"`,
		strings.Repeat(`A line of plain text with \"quotes\" in it.\n`, 40) + `"`, strings.Repeat("YWJj", 100) + `YQ=="`, strings.Repeat("é", 50) + `"x`,
	} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(37))
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		want, end, ok := decodeString(data)
		for _, isBase64 := range []bool{false, true} {
			g := &gatherer{base64: isBase64}
			used, err := gatherPieces(g, data, 1+int(step))
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

// decodeString decodes the string whose inside data begins with.
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
