package ws

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testCodec is a weak cipher that counts frames, so that a frame out of its place fails.
type testCodec struct{ sent, received byte }

func (c *testCodec) Seal(plain []byte) ([]byte, error) {
	for i := range plain {
		plain[i] ^= 0x5a
	}
	c.sent++
	return append(plain, bytes.Repeat([]byte{c.sent}, CodecOverhead)...), nil
}

func (c *testCodec) Open(b []byte) ([]byte, error) {
	c.received++
	n := len(b) - CodecOverhead
	if n < 0 || !bytes.Equal(b[n:], bytes.Repeat([]byte{c.received}, CodecOverhead)) {
		return nil, errors.New("not the next frame")
	}
	for i := range b[:n] {
		b[i] ^= 0x5a
	}
	return b[:n], nil
}

// TestSealedMessagesArriveWhole: messages of all sizes arrive in order, written in batches
// and as streams, from either side.
func TestSealedMessagesArriveWhole(t *testing.T) {
	p := connectTCP(t, Options{ReadLimit: 1 << 20})
	p.client.SetReadLimit(1 << 20)
	p.host.Seal(&testCodec{})
	p.client.Seal(&testCodec{})
	if !p.host.Masks() || p.host.CanTry() || p.host.TryWriteBatch(texts(1)) != 0 {
		t.Error("frames of a sealed connection are shared or written clear")
	}
	msgs := texts(0, 1, 300, 65502, 65503, 65504, 65505, 65506, 65507, 70_000, 0, 2, 700_000)
	streams := texts(0, 5, 1500, 66_000, 200_000, 65_503)
	for name, ends := range map[string][2]*Conn{"to the client": {p.host, p.client}, "to the host": {p.client, p.host}} {
		go func() {
			if err := ends[0].WriteBatch(msgs); err != nil {
				t.Error(err)
			}
			for _, m := range streams {
				if err := ends[0].Stream(func(w io.Writer) error { return writeInPieces(w, m) }); err != nil {
					t.Error(err)
				}
			}
		}()
		got, err := readAll(ends[1], len(msgs)+len(streams))
		if err != nil {
			t.Fatal(name, err)
		}
		if want := append(append([][]byte{}, msgs...), streams...); !cmp.Equal(want, got, cmp.Comparer(bytes.Equal)) {
			t.Errorf("%s: messages differ", name)
		}
	}
}

// writeInPieces writes m in pieces of random sizes, some through AvailableBuffer.
func writeInPieces(w io.Writer, m []byte) error {
	random := rand.New(rand.NewPCG(1, 2))
	for len(m) > 0 {
		n := min(1+random.IntN(3000), len(m))
		piece := m[:n]
		if buf := w.(StreamBuffer).AvailableBuffer(); n <= cap(buf) && n%2 == 0 {
			piece = append(buf, piece...)
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
		m = m[n:]
	}
	return nil
}

// TestASkippedMessage: a reader that leaves a sealed message finds the next one.
func TestASkippedMessage(t *testing.T) {
	p := connectTCP(t, Options{ReadLimit: 1 << 20})
	p.host.Seal(&testCodec{})
	p.client.Seal(&testCodec{})
	go func() { _ = p.client.WriteBatch(texts(200_000, 7)) }()
	if _, err := p.host.NextMessage(); err != nil {
		t.Fatal(err)
	}
	if got, err := p.host.ReadMessage(); err != nil || len(got) != 7 {
		t.Errorf("%d bytes, %v, want the second message", len(got), err)
	}
}

// TestMalformedSealedFrames: a frame that was sealed with the right key and is not valid
// ends the connection, and delivers nothing.
func TestMalformedSealedFrames(t *testing.T) {
	seal := func(plain string) []byte {
		b, _ := (&testCodec{}).Seal([]byte(plain))
		return b
	}
	for name, frame := range map[string][]byte{
		"no piece":               seal(""),
		"half a header":          seal("\x01\x00"),
		"a longer piece":         seal("\x01\x00\x03ab"),
		"another flag":           seal("\x02\x00\x01a"),
		"an empty beginning":     seal("\x00\x00\x00"),
		"a beginning before":     seal("\x00\x00\x01a\x01\x00\x00"),
		"bytes behind the piece": seal("\x01\x00\x01ab"),
		"no frame":               {},
		"too short for a tag":    make([]byte, CodecOverhead-1),
		"too long":               make([]byte, maxSealedFrame+1),
	} {
		p := connectTCP(t, Options{})
		p.host.Seal(&testCodec{})
		go func() { _ = p.client.WriteBinary(frame) }()
		m, err := p.host.ReadMessage()
		for ; err == nil && name == "bytes behind the piece"; m, err = p.host.ReadMessage() { // the first piece is whole
		}
		if CodeOf(err) != CodeSealBroken {
			t.Errorf("%s: %q, %v", name, m, err)
		}
	}
}

// TestClearFramesOnASealedConnection: neither side takes or sends one.
func TestClearFramesOnASealedConnection(t *testing.T) {
	writes := map[string]func(*Conn) error{
		"framed": func(c *Conn) error { return c.WriteFramed([][]byte{Framed(texts(3))}) },
		"parts": func(c *Conn) error {
			return c.WriteParts(3, func(yield func([]byte) bool) { yield([]byte("abc")) })
		},
	}
	for name, write := range writes {
		p := connectTCP(t, Options{})
		p.host.Seal(&testCodec{})
		if err := write(p.host); CodeOf(err) != CodeInternal {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := connectTCP(t, Options{})
	p.host.Seal(&testCodec{})
	go func() { _ = p.client.WriteBatch(texts(3)) }()
	if _, err := p.host.ReadMessage(); CodeOf(err) != CodeSealBroken {
		t.Errorf("a clear message: %v", err)
	}
}

// TestTheLimitOfASealedMessage counts the message and not its frames.
func TestTheLimitOfASealedMessage(t *testing.T) {
	for size, want := range map[int]CloseCode{300_000: 0, 300_001: CodeTooBig} {
		p := connectTCP(t, Options{ReadLimit: 300_000})
		p.host.Seal(&testCodec{})
		p.client.Seal(&testCodec{})
		go func() { _ = p.client.WriteBatch(texts(size)) }()
		if _, err := p.host.ReadMessage(); CodeOf(err) != want {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestAPeekedMessageIsRead checks that IsBinary takes nothing away.
func TestAPeekedMessageIsRead(t *testing.T) {
	p := connectTCP(t, Options{})
	go func() {
		_ = p.client.WriteBatch([][]byte{[]byte("clear")})
		_ = p.client.WriteBinary([]byte("binary"))
		_ = p.client.WriteBinary([]byte("too long"))
	}()
	var got []string
	for range 2 {
		binary, err := p.host.IsBinary()
		if err != nil {
			t.Fatal(err)
		}
		read := p.host.ReadMessage
		if binary {
			read = func() ([]byte, error) { return p.host.ReadBinary(6) }
		}
		m, err := read()
		got = append(got, fmt.Sprint(binary, " ", string(m), " ", err))
	}
	if want := []string{"false clear <nil>", "true binary <nil>"}; !cmp.Equal(want, got) {
		t.Errorf("%q", got)
	}
	if _, err := p.host.ReadBinary(7); CodeOf(err) != CodeSealBroken {
		t.Errorf("a long message: %v", err)
	}
}
