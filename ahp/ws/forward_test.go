package ws

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
)

// joined has two clients whose accepted ends forward to each other.
type joined struct {
	a, b  *pair
	ended chan error // the results of both Forwards
}

func join(t testing.TB, opts Options) *joined {
	j := &joined{a: connect(t, opts, Options{ReadLimit: 64 << 20, WriteStall: time.Hour, PingAfter: time.Hour, DeadAfter: 2 * time.Hour}), b: connect(t, opts, Options{ReadLimit: 64 << 20, WriteStall: time.Hour, PingAfter: time.Hour, DeadAfter: 2 * time.Hour}), ended: make(chan error, 2)}
	var wg sync.WaitGroup
	for _, ends := range [][2]*Conn{{j.a.host, j.b.host}, {j.b.host, j.a.host}} {
		wg.Go(func() { j.ended <- Forward(ends[0], ends[1], nil) })
	}
	t.Cleanup(func() {
		for _, p := range []*pair{j.a, j.b} {
			p.wire.Thaw()
			p.host.Close(CodeNormal, "")
		}
		wg.Wait()
	})
	return j
}

func TestForwardedMessagesArriveWhole(t *testing.T) {
	msgs := texts(0, 1, 125, 126, smallBuffer-maxHeader-8, smallBuffer-maxHeader, smallBuffer, smallBuffer+1, wholeFrame, wholeFrame+1,
		pieceSize, pieceSize+1, 3*pieceSize+7, 1<<20, 5, largeBuffer, 2*largeBuffer+1, 7)
	j := join(t, Options{ReadLimit: 3 * largeBuffer})
	for name, ends := range map[string][2]*Conn{"one way": {j.a.client, j.b.client}, "other way": {j.b.client, j.a.client}} {
		t.Run(name, func(t *testing.T) { arriveWhole(t, ends[0], ends[1], msgs) })
	}
	t.Run("a fragmented one", func(t *testing.T) {
		chunks := texts(10, 3*pieceSize, 5, pieceSize)
		go func() {
			_ = j.a.client.Stream(func(w io.Writer) error {
				for _, c := range chunks {
					_, _ = w.Write(c)
				}
				return nil
			})
		}()
		got, err := j.b.client.ReadMessage()
		if err != nil || !bytes.Equal(got, bytes.Join(chunks, nil)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

func TestForwardEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(j *joined)
		code   CloseCode
		remote bool
	}{
		"a close frame":             {func(j *joined) { j.a.client.Close(4711, "bye") }, 4711, true},
		"a lost socket":             {func(j *joined) { _ = j.a.wire.Close() }, CodeLost, false},
		"a message above the limit": {func(j *joined) { go func() { _ = j.a.client.WriteBatch(texts(5001)) }() }, CodeTooBig, false},
		"a closed target":           {func(j *joined) { j.b.host.Close(4712, ""); _ = j.a.client.WriteBatch(texts(10)) }, 4712, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := join(t, Options{ReadLimit: 5000})
			c.end(j)
			wantClosed(t, within(t, j.ended), c.code, c.remote)
		})
	}
}

// A message that is cut is not completed at the other end, which receives a valid close
// frame.
func TestForwardDoesNotCompleteWhatWasCut(t *testing.T) {
	j := join(t, Options{ReadLimit: 1 << 20})
	long := appendFrame(nil, opText|bitFinal, texts(200 << 10)[0], true)
	go func() {
		_ = j.a.client.WriteBatch(texts(1))
		_, _ = j.a.wire.Write(long[:100<<10])
		_ = j.a.wire.Close()
	}()
	if m, err := j.b.client.ReadMessage(); err != nil || len(m) != 1 {
		t.Fatalf("the message before: %d bytes, %v", len(m), err)
	}
	wantClosed(t, within(t, j.ended), CodeLost, false)
	j.b.host.Close(4005, "the other end was lost")
	m, err := j.b.client.ReadMessage()
	wantClosed(t, err, 4005, true)
	if m != nil {
		t.Errorf("%d bytes of it arrived as a message", len(m))
	}
}

// A client that does not read stops the client that writes to it, and Forward keeps only
// a buffer of the messages.
func TestForwardPushesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := join(t, Options{ReadLimit: 1 << 20, WriteStall: time.Hour})
		j.b.wire.Freeze()
		sent := 0
		go func() {
			for m := texts(1000); sent < 5000; sent++ { // limited, because it would delay its own close forever
				if j.a.client.WriteBatch(m) != nil {
					return
				}
			}
		}()
		synctest.Wait()
		// The buffers of two sockets, 256 KiB each, Forward's, and one message.
		if n := sent * 1000; n < 256<<10 || n > 2*256<<10+middleBuffer+8<<10 {
			t.Errorf("%d bytes were read from a client although the other end does not read", n)
		}
		time.Sleep(5 * time.Second)
		before := sent
		j.b.wire.Thaw()
		for range 3 * before {
			if _, err := j.b.client.ReadMessage(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A source is not read while its target takes nothing. That does not count as silence
// of the source, which stays open for as long as the target may be slow.
func TestForwardKeepsTheSourceOfASlowTargetAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := join(t, Options{ReadLimit: 1 << 20, WriteStall: 5 * time.Minute, PingAfter: time.Hour, DeadAfter: 2 * time.Hour})
		j.a.host.out.opts.PingAfter, j.a.host.out.opts.DeadAfter = 30*time.Second, 60*time.Second
		j.a.host.out.alive.Reset(30 * time.Second)
		j.b.wire.Freeze()
		go func() {
			for range 2000 {
				if j.a.client.WriteBatch(texts(1000)) != nil {
					return
				}
			}
		}()
		began := time.Now()
		time.Sleep(4 * time.Minute)
		if err := j.a.host.Err(); err != nil {
			t.Errorf("the source was given up: %v", err)
		}
		err := <-j.ended
		wantClosed(t, err, CodeSlow, false)
		if d := time.Since(began); d < 5*time.Minute { // at most twice that, because the first bytes were progress
			t.Errorf("it ended after %s, by %v", d, err)
		}
	})
}

// A ping is answered by the end that receives it, and is not forwarded.
func TestForwardAnswersPings(t *testing.T) {
	host, g := connectGorilla(t, Options{})
	other := connect(t, Options{}, Options{})
	done := make(chan error, 1)
	go func() { done <- Forward(other.host, host, nil) }()
	pongs := make(chan string, 1)
	g.SetPongHandler(func(s string) error { pongs <- s; return nil })
	go func() { _, _, _ = g.ReadMessage() }()
	if err := g.WriteControl(websocket.PingMessage, []byte("are you there"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := within(t, pongs); got != "are you there" {
		t.Errorf("the pong says %q", got)
	}
	if err := g.WriteMessage(websocket.TextMessage, []byte("and now a message")); err != nil {
		t.Fatal(err)
	}
	if m, err := other.client.ReadMessage(); string(m) != "and now a message" {
		t.Errorf("forwarded %q, %v", m, err)
	}
	host.Close(CodeNormal, "")
	<-done
}

// decodeFrames is a simple decoder (RFC 6455 section 5.2) of messages that are in memory.
// Each begins with its opcode.
// ended reports that the input violates the protocol or has a close frame.
func decodeFrames(b []byte, masked bool, limit int) (msgs [][]byte, ended bool) {
	var cur []byte
	in, kind := false, byte(0)
	for len(b) >= 2 {
		op, final, n, h := b[0]&15, b[0]&0x80 != 0, uint64(b[1]&127), 2
		if b[0]&0x70 != 0 || (b[1]&0x80 != 0) != masked {
			return msgs, true
		}
		if op >= 8 && (!final || n > 125 || op > 10) || op > 2 && op < 8 {
			return msgs, true
		}
		switch {
		case n == 126 && len(b) >= 4:
			n, h = uint64(binary.BigEndian.Uint16(b[2:])), 4
		case n == 127 && len(b) >= 10:
			n, h = binary.BigEndian.Uint64(b[2:]), 10
		case n >= 126:
			return msgs, false
		}
		if masked {
			h += 4
		}
		if len(b) < h {
			return msgs, false
		}
		if op < 8 && ((op == 0) != in || n > uint64(limit-len(cur))) {
			return msgs, true
		}
		if uint64(len(b)-h) < n {
			return msgs, false
		}
		if op == 8 {
			return msgs, true
		}
		payload := bytes.Clone(b[h : h+int(n)])
		for i := range payload {
			if masked {
				payload[i] ^= b[h-4+i%4]
			}
		}
		b = b[h+int(n):]
		if op > 0 && op < 8 {
			kind = op
		}
		if op < 8 {
			cur, in = append(cur, payload...), !final
			if final {
				msgs, cur = append(msgs, append([]byte{kind}, cur...)), nil
			}
		}
	}
	return msgs, false
}

// FuzzForward: frames that arrive in pieces of any size are forwarded as the same
// messages that a simple decoder finds.
func FuzzForward(f *testing.F) {
	frame := func(first byte, n int) []byte { return appendFrame(nil, first, bytes.Repeat([]byte("x"), n), true) }
	f.Add(frame(opText|bitFinal, 5), 3)
	f.Add(append(frame(opText, 200), frame(opContinue|bitFinal, 70000)...), 1000)
	f.Add(append(append(frame(opText, 0), frame(opPing|bitFinal, 9)...), frame(opContinue|bitFinal, 40000)...), 70)
	f.Add(append(frame(opText|bitFinal, 40000), frame(opClose|bitFinal, 0)...), 4096)
	f.Add([]byte{0x82, 0x80, 0, 0, 0, 0}, 1)
	f.Add(append(append(frame(opBinary, 200), frame(opContinue|bitFinal, 70000)...), frame(opText|bitFinal, 3)...), 1000)
	f.Add([]byte{0x83, 0x80, 0, 0, 0, 0}, 1)
	f.Add([]byte{0x81, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 2)
	const limit = 100_000
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		if step < 1 || len(data)/step > 2000 {
			t.Skip()
		}
		fw := &forwarder{src: &Conn{out: writer{cause: &CloseError{}}}, taken: headerSpace, end: headerSpace, idle: make([]byte, smallBuffer)}
		fw.src.readLimit.Store(limit)
		fw.buf = fw.idle
		defer fw.release()
		var out []byte
		var bad *CloseError
		for rest := data; len(rest) > 0 && bad == nil; {
			left := fw.buf[fw.taken:fw.end]
			old := fw.chooseBuffer(len(left) == 0)
			fw.taken, fw.end = headerSpace, headerSpace+copy(fw.buf[headerSpace:], left)
			giveBuffer(old)
			n := copy(fw.buf[fw.end:], rest[:min(step, len(rest))])
			if n == 0 {
				t.Fatal("the buffer is full of what cannot be taken")
			}
			rest = rest[n:]
			fw.end += n
			fw.full = fw.end == len(fw.buf)
			var piece []byte
			piece, _, bad = fw.translate()
			out = append(out, piece...)
		}
		want, ended := decodeFrames(data, true, limit)
		got, _ := decodeFrames(out, false, limit)
		if diff := cmp.Diff(want, got, cmp.Comparer(bytes.Equal)); diff != "" {
			t.Fatalf("%d messages, want %d; step %d", len(got), len(want), step)
		}
		if ended != (bad != nil) {
			t.Fatalf("ended %v, want %v", bad, ended)
		}
	})
}

func TestForwardRefusesDialledEnds(t *testing.T) {
	p := connect(t, Options{}, Options{})
	defer func() {
		if got := fmt.Sprint(recover()); got != "ws: Forward joins accepted connections" {
			t.Error(got)
		}
	}()
	_ = Forward(p.host, p.client, nil)
}
