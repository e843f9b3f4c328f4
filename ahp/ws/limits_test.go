package ws

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// The limits of ahp/PROTOCOL.md section 13.1, before the AHP handshake and after it, and
// the limit of a client.
func TestDefaultReadLimits(t *testing.T) {
	for _, tc := range []struct {
		host     Options
		toClient bool
		most     int
	}{{Options{}, false, 256 << 10}, {Options{ReadLimit: MessageReadLimit}, false, 4 << 20}, {Options{}, true, 32 << 20}} {
		p := connect(t, tc.host, Options{})
		from, to := p.client, p.host
		if tc.toClient {
			from, to = to, from
		}
		arriveWhole(t, from, to, texts(tc.most))
		go func() { _ = from.WriteBatch(texts(tc.most + 1)) }()
		_, err := to.ReadMessage()
		wantClosed(t, err, CodeTooBig, false)
	}
}

// Dial waits 10 s for the answer to its upgrade.
func TestDialTime(t *testing.T) {
	for answer, want := range map[time.Duration]time.Duration{10*time.Second - 1: 10*time.Second - 1, time.Minute: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(answer):
				case <-r.Context().Done():
					return
				}
				if c, err := Upgrade(w, r, Options{}); err != nil {
					t.Error(err)
				} else {
					c.Close(CodeNormal, "")
					c.Wait()
				}
			})
			start := time.Now()
			c, err := Dial(t.Context(), testURL, DialOptions{NetDial: s.net.Dial})
			if d := time.Since(start); d != want || (err == nil) != (want == answer) {
				t.Errorf("an answer after %s: %v after %s", answer, err, d)
			}
			if err == nil {
				c.Close(CodeNormal, "")
				c.Wait()
			}
		})
	}
}

// Close waits up to a second each for the current frame, for the close frame, and
// for the peer to close. A peer that resumes reading just before such a second ends
// receives everything; one that resumes when it ends is too late.
func TestCloseGrace(t *testing.T) {
	for name, tc := range map[string]struct {
		message int       // bytes of a message that the peer has not read
		late    CloseCode // the code that it gets when it is too late
	}{
		"the frame under way": {1 << 20, CodeLost},
		"the close frame":     {ahptest.DefaultBuffer - 10, CodeLost}, // the message with its header fills the socket
		"the peer's end":      {1, CodeRestart},
	} {
		for wakes, code := range map[time.Duration]CloseCode{time.Second - 1: CodeRestart, time.Second: tc.late} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := connect(t, Options{}, Options{})
					p.wire.Freeze()
					go func() { _ = p.host.WriteBatch(texts(tc.message)) }()
					synctest.Wait()
					start := time.Now()
					p.host.Close(CodeRestart, "")
					time.AfterFunc(wakes, p.wire.Thaw)
					ended := make(chan error, 1)
					go func() {
						_, err := readAll(p.client, 2)
						ended <- err
					}()
					p.host.Wait()
					if d := time.Since(start); d != wakes {
						t.Errorf("the peer woke after %s, the end was after %s", wakes, d)
					}
					if err := <-ended; CodeOf(err) != code {
						t.Errorf("a peer that wakes after %s finds %v, want %d", wakes, err, code)
					}
				})
			})
		}
	}
}

// Forward's buffer for a long frame has 1 MiB for four frames at a time, and 64 KiB for
// the fifth.
func TestForwardHoldsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		patient := Options{ReadLimit: 8 << 20, WriteStall: time.Hour, PingAfter: time.Hour, DeadAfter: 2 * time.Hour}
		frame := texts(6 << 20)
		var ends []*pair
		for n, most := range []int{1 << 20, 1 << 20, 1 << 20, 1 << 20, 64 << 10} {
			src, dst := connectOver(t, 2<<20, patient, patient), connectOver(t, 2<<20, patient, patient)
			ends = append(ends, src, dst)
			dst.wire.Freeze()
			go func() { _ = src.client.WriteBatch(frame) }()
			synctest.Wait() // the socket is full
			held := 0
			wg.Go(func() { _ = Forward(dst.host, src.host, func(bytes int) { held = max(held, bytes) }) })
			synctest.Wait() // the other socket is full, too
			if held > most || held < most-maxHeader {
				t.Errorf("frame %d: %d bytes are held, want %d", n+1, held, most)
			}
		}
		for _, p := range ends {
			p.wire.Thaw()
			p.host.Close(CodeNormal, "")
		}
		wg.Wait()
	})
}
