package seal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

var testKey = NewKey()

func testHost() *Host { return NewHost(testKey, "laptop", false) }

func testIdentity() Identity { return Identity{Host: "laptop", Key: testKey.Public()} }

// sent are the messages of the tampering tests. The third one has several frames.
func sent() [][]byte {
	return [][]byte{[]byte("one"), []byte("two, a little longer"), bytes.Repeat([]byte("three"), 40_000), []byte("four"), {}, []byte("six")}
}

// exchange sends the messages one way, each in separate frames, and returns those that
// arrived, with the receiver's end.
func exchange(t *testing.T, toHost bool, do tamper) (got [][]byte, err error) {
	t.Helper()
	p := connect(t, pass, do)
	from, to := p.host, p.client
	if toHost {
		p = connect(t, do, pass)
		from, to = p.client, p.host
	}
	if a, b := p.seal(t, testHost(), testIdentity()); a != nil || b != nil {
		t.Fatal(a, b)
	}
	go func() {
		for _, m := range sent() {
			if from.WriteBatch([][]byte{m}) != nil {
				return
			}
		}
		from.Close(ws.CodeNormal, "all sent")
	}()
	for {
		m, err := to.ReadMessage()
		if err != nil {
			return got, err
		}
		got = append(got, m)
	}
}

// frames is how many frames exchange sends in one direction, the handshake included.
const frames = 1 + 3 + 1 + 1 + 4 // the third message has 200,000 bytes

// TestMessagesPassSealed: what is sent arrives, and a relay sees nothing of it.
func TestMessagesPassSealed(t *testing.T) {
	for _, toHost := range []bool{false, true} {
		count := 0
		got, err := exchange(t, toHost, func(_ int, frame []byte) [][]byte {
			count++
			for _, m := range sent() {
				if len(m) > 3 && bytes.Contains(frame, m[:min(8, len(m))]) {
					t.Errorf("a frame has %q", m[:min(8, len(m))])
				}
			}
			return [][]byte{frame}
		})
		if !slices.EqualFunc(got, sent(), bytes.Equal) || ws.CodeOf(err) != ws.CodeNormal {
			t.Errorf("%d messages, %v", len(got), err)
		}
		if count != frames {
			t.Errorf("%d frames, want %d", count, frames)
		}
	}
}

// TestTampering: whatever a relay does to a frame, the receiver closes with CodeSealBroken
// and has received only messages that were complete before.
func TestTampering(t *testing.T) {
	flip := func(at func(n int) int) func(b []byte) []byte {
		return func(b []byte) []byte {
			b = bytes.Clone(b)
			bit := at(len(b) * 8)
			b[bit/8] ^= 1 << (bit % 8)
			return b
		}
	}
	var held []byte
	attacks := map[string]func(b []byte) [][]byte{
		"the first bit":  func(b []byte) [][]byte { return [][]byte{flip(func(int) int { return 0 })(b)} },
		"the middle bit": func(b []byte) [][]byte { return [][]byte{flip(func(n int) int { return n / 2 })(b)} },
		"the last bit":   func(b []byte) [][]byte { return [][]byte{flip(func(n int) int { return n - 1 })(b)} },
		"dropped":        func([]byte) [][]byte { return [][]byte{} },
		"repeated":       func(b []byte) [][]byte { return [][]byte{b, b} },
		"a byte less":    func(b []byte) [][]byte { return [][]byte{b[:len(b)-1]} },
		"a byte more":    func(b []byte) [][]byte { return [][]byte{append(bytes.Clone(b), 0)} },
		"halved":         func(b []byte) [][]byte { return [][]byte{b[:len(b)/2], b[len(b)/2:]} },
		"emptied":        func([]byte) [][]byte { return [][]byte{{}} },
		"swapped":        func(b []byte) [][]byte { held = b; return [][]byte{} },
	}
	for name, attack := range attacks {
		for _, toHost := range []bool{false, true} {
			for _, at := range []int{1, 2, 4, frames - 3} {
				t.Run(fmt.Sprint(name, toHost, at), func(t *testing.T) {
					got, err := exchange(t, toHost, func(n int, frame []byte) [][]byte {
						switch {
						case n == at:
							return attack(frame)
						case n == at+1 && name == "swapped":
							return [][]byte{frame, held}
						}
						return [][]byte{frame}
					})
					if ws.CodeOf(err) != ws.CodeSealBroken {
						t.Errorf("ended with %v", err)
					}
					if all := sent(); len(got) >= len(all) || !slices.EqualFunc(got, all[:len(got)], bytes.Equal) {
						t.Errorf("%d messages, and not only the first ones", len(got))
					}
				})
			}
		}
	}
}

// TestCutting: a relay that ends the connection inside a message delivers nothing of it.
func TestCutting(t *testing.T) {
	for _, at := range []int{1, 3, 4, 5} {
		got, err := exchange(t, at%2 == 0, func(n int, frame []byte) [][]byte {
			if n == at {
				return nil
			}
			return [][]byte{frame}
		})
		if want := min(at-1, 2); len(got) != want || err == nil {
			t.Errorf("cut at %d: %d messages, want %d; %v", at, len(got), want, err)
		}
	}
}

// TestEveryBit: no bit of a frame can be changed.
func TestEveryBit(t *testing.T) {
	p := connect(t, pass, pass)
	if a, b := p.seal(t, testHost(), testIdentity()); a != nil || b != nil {
		t.Fatal(a, b)
	}
	a, b := testCodecs(t)
	frame, err := a.Seal(append(make([]byte, 0, 400), strings.Repeat("frame", 40)...))
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(frame) * 8 {
		changed := bytes.Clone(frame)
		changed[bit/8] ^= 1 << (bit % 8)
		if plain, err := b.Open(changed); err == nil {
			t.Fatalf("bit %d: opened %q", bit, plain)
		}
	}
	if plain, err := b.Open(frame); err != nil || len(plain) != 200 {
		t.Errorf("the frame itself: %v", err)
	}
}

// TestHandshakeTampering: each change of a handshake message has the same end at both ends,
// and the connection is not sealed.
func TestHandshakeTampering(t *testing.T) {
	attacks := map[string]tamper{
		"changed key": func(_ int, b []byte) [][]byte { b[3] ^= 4; return [][]byte{b} },
		"changed tag": func(_ int, b []byte) [][]byte { b[40] ^= 4; return [][]byte{b} },
		"a zero key":  func(_ int, b []byte) [][]byte { clear(b[:32]); return [][]byte{b} },
		"shorter":     func(_ int, b []byte) [][]byte { return [][]byte{b[:47]} },
		"longer":      func(_ int, b []byte) [][]byte { return [][]byte{append(b, 1)} },
		"only a key":  func(_ int, b []byte) [][]byte { return [][]byte{b[:32]} },
		"above 1 KiB": func(int, []byte) [][]byte { return [][]byte{make([]byte, 1025)} },
		"empty":       func(int, []byte) [][]byte { return [][]byte{{}} },
		"random":      func(int, []byte) [][]byte { return [][]byte{bytes.Repeat([]byte{7}, 48)} },
	}
	for name, attack := range attacks {
		p := connect(t, attack, pass)
		client, host := p.seal(t, testHost(), testIdentity())
		if ws.CodeOf(client) != ws.CodeSealBroken || ws.CodeOf(host) != ws.CodeSealBroken || p.client.Sealed() || p.host.Sealed() {
			t.Errorf("the client's message %s: %v, %v", name, client, host)
		}
		p = connect(t, pass, attack)
		client, _ = p.seal(t, testHost(), testIdentity())
		if ws.CodeOf(client) != ws.CodeSealBroken || p.client.Sealed() {
			t.Errorf("the host's message %s: %v", name, client)
		}
	}
}

// TestAnotherHost: a host with another key, or under another name, is refused. So is a
// relay that answers in the host's place.
func TestAnotherHost(t *testing.T) {
	for name, h := range map[string]*Host{
		"another key":  NewHost(NewKey(), "laptop", false),
		"another name": NewHost(testKey, "desktop", false),
		"clear too":    NewHost(NewKey(), "laptop", true),
	} {
		p := connect(t, pass, pass)
		client, host := p.seal(t, h, testIdentity())
		if ws.CodeOf(client) != ws.CodeSealBroken || ws.CodeOf(host) != ws.CodeSealBroken || p.client.Sealed() {
			t.Errorf("%s: %v, %v", name, client, host)
		}
	}
}

// TestAClearClient: a host closes a client that does not seal, unless it accepts both.
func TestAClearClient(t *testing.T) {
	for _, clear := range []bool{false, true} {
		client, host := inMemory(t)
		go func() { _ = client.WriteBatch([][]byte{[]byte("hello")}) }()
		err := NewHost(testKey, "laptop", clear).Accept(t.Context(), host, "ann")
		if !clear {
			if ws.CodeOf(err) != ws.CodeSealNeeded {
				t.Errorf("refused with %v", err)
			}
			if _, err := client.ReadMessage(); ws.CodeOf(err) != ws.CodeSealNeeded {
				t.Errorf("the client learns %v", err)
			}
			continue
		}
		if m, readErr := host.ReadMessage(); err != nil || readErr != nil || string(m) != "hello" || host.Sealed() {
			t.Errorf("%v; %q, %v", err, m, readErr)
		}
	}
}

// TestAHandshakeThatTakesTooLong ends on both sides.
func TestAHandshakeThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, host := inMemory(t)
		done := make(chan error, 2)
		go func() { done <- testHost().Accept(t.Context(), host, "ann") }()
		if err := <-done; ws.CodeOf(err) != ws.CodeSealBroken {
			t.Errorf("the host: %v", err)
		}
		client, _ := inMemory(t)
		if err := testIdentity().Dial(t.Context(), client); ws.CodeOf(err) != ws.CodeSealBroken {
			t.Errorf("the client: %v", err)
		}
	})
}

// TestFailuresAreLimited: a holder that fails too often is closed at once for the rest of
// the minute, and others are not.
func TestFailuresAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := testHost()
		attempt := func(holder string, id Identity) ws.CloseCode {
			client, host := inMemory(t)
			done := make(chan error, 1)
			go func() { done <- h.Accept(t.Context(), host, holder) }()
			err := id.Dial(t.Context(), client)
			<-done
			return ws.CodeOf(err)
		}
		wrong := Identity{Host: "laptop", Key: NewKey().Public()}
		for n := range maxFailures {
			if code := attempt("eve", wrong); code != ws.CodeSealBroken {
				t.Fatalf("failure %d: %d", n, code)
			}
		}
		if code := attempt("eve", testIdentity()); code != ws.CodeTryLater {
			t.Errorf("a limited holder: %d", code)
		}
		if code := attempt("ann", testIdentity()); code != 0 {
			t.Errorf("another one: %d", code)
		}
		<-time.After(window)
		if code := attempt("eve", testIdentity()); code != 0 {
			t.Errorf("a minute later: %d", code)
		}
	})
}

// TestFailuresAreForgotten: the table does not grow with the names of holders.
func TestFailuresAreForgotten(t *testing.T) {
	h := testHost()
	for n := range 2 * maxHolders {
		h.failed(fmt.Sprint(n))
	}
	if n := len(h.failures); n > maxHolders {
		t.Errorf("%d holders", n)
	}
}

// TestRekey: both ends change keys behind the same frame, by number and by size.
func TestRekey(t *testing.T) {
	for name, set := range map[string]func(d *direction){
		"frames": func(d *direction) { d.frames = rekeyFrames - 2 },
		"bytes":  func(d *direction) { d.bytes = rekeyBytes - 40 },
	} {
		a, b := testCodecs(t)
		set(&a.send)
		set(&b.receive)
		first := a.send.cipher.UnsafeKey()
		for n := range 5 {
			text := fmt.Sprint("message ", n)
			sealed, err := a.Seal(append(make([]byte, 0, 64), text...))
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := b.Open(sealed); err != nil || string(plain) != text {
				t.Fatalf("%s: %q, %v", name, plain, err)
			}
		}
		if a.send.cipher.UnsafeKey() == first || a.send.cipher.UnsafeKey() != b.receive.cipher.UnsafeKey() || a.send.frames >= 5 {
			t.Errorf("%s: the key has not changed", name)
		}
	}
}

// TestKeys checks the text of keys.
func TestKeys(t *testing.T) {
	k, err := ParseKey(testKey.Secret())
	if err != nil || k.Public() != testKey.Public() {
		t.Errorf("%v", err)
	}
	if p, err := ParsePublicKey(testKey.Public().String()); err != nil || p != testKey.Public() {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "short", strings.Repeat("A", 42) + "B", strings.Repeat("A", 44), strings.Repeat("A", 42) + "=", strings.Repeat("+", 43)} {
		if _, err := ParsePublicKey(bad); err == nil {
			t.Errorf("%q is a public key", bad)
		}
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("%q is a key", bad)
		}
	}
}

// FuzzFirstMessage: no first message but a client's makes a host seal or panic.
func FuzzFirstMessage(f *testing.F) {
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{9}, 48))
	f.Add(make([]byte, 1024))
	f.Fuzz(func(t *testing.T, first []byte) {
		client, host := inMemory(t)
		go func() { _ = client.WriteBinary(first) }()
		if err := testHost().Accept(t.Context(), host, "ann"); ws.CodeOf(err) != ws.CodeSealBroken || host.Sealed() {
			t.Errorf("%v", err)
		}
	})
}

// FuzzFrames: no frame but the next one is opened.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 16))
	f.Add(make([]byte, 400))
	f.Fuzz(func(t *testing.T, frame []byte) {
		_, b := testCodecs(t)
		if plain, err := b.Open(frame); err == nil {
			t.Errorf("opened %q", plain)
		}
	})
}
