package bridge

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestReadData: base64 is decoded as strictly as by the standard library, and line
// breaks are invalid, at any length and with any corruption.
func TestReadData(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	check := func(text string) {
		t.Helper()
		want, err := base64.StdEncoding.Strict().DecodeString(text)
		good := err == nil && !strings.ContainsAny(text, "\r\n") && len(want) <= maxLargeChunk
		m := message{kind: data}
		if bad := m.readData([]byte(`"` + text + `"`)); (bad == nil) != good || good && !bytes.Equal(m.data, want) {
			t.Fatalf("%d characters, %.80q: %v, want good %v", len(text), text, bad, good)
		}
	}
	for size := range 400 {
		raw := make([]byte, size)
		for i := range raw {
			raw[i] = byte(random.Uint32())
		}
		text := base64.StdEncoding.EncodeToString(raw)
		check(text)
		if text == "" {
			continue
		}
		for _, spoilt := range []byte("=\n\r-_ A\x80\x00") {
			at := random.IntN(len(text))
			check(text[:at] + string([]byte{spoilt}) + text[at+1:])
			check(text[:at] + string([]byte{spoilt}) + text[at:])
			last := len(text) - 1 - random.IntN(min(4, len(text)))
			check(text[:last] + string([]byte{spoilt}) + text[last+1:])
		}
	}
	check(base64.StdEncoding.EncodeToString(make([]byte, maxLargeChunk)))
}
