//go:build unix

package ws

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Messages of tries and of waiting writes arrive complete and in order, in both
// directions, even if a try fills the socket in the middle of a frame.
func TestTriedMessagesArriveWhole(t *testing.T) {
	var msgs [][]byte
	for range 20 {
		msgs = append(msgs, texts(0, 1, 125, 126, 5000, pieceSize-maxHeader, 3, pieceSize, 70_000, 9000)...)
	}
	for _, name := range []string{"host to client", "client to host"} {
		t.Run(name, func(t *testing.T) {
			p := connectTCP(t, Options{})
			from, to := p.host, p.client
			if name == "client to host" {
				from, to = to, from
			}
			cut := make(chan int, 1)
			go func() {
				waited := 0
				for left := msgs; len(left) > 0; {
					if n := from.TryWriteBatch(left[:min(7, len(left))]); n > 0 {
						left = left[n:]
						continue
					}
					waited++
					if err := from.WriteBatch(left[:1]); err != nil {
						t.Error(err)
						break
					}
					left = left[1:]
				}
				cut <- waited
			}()
			got, err := readAll(to, len(msgs))
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(msgs, got, cmp.Comparer(bytes.Equal)) {
				t.Error("messages differ")
			}
			if waited := <-cut; waited == 0 || waited == len(msgs) {
				t.Errorf("%d of %d messages were waited for: want some", waited, len(msgs))
			}
		})
	}
}

// A try never waits, and takes nothing if it would have to.
func TestTryTakesNothing(t *testing.T) {
	t.Run("no socket", func(t *testing.T) {
		p := connect(t, Options{}, Options{})
		if p.host.CanTry() || p.host.TryWriteBatch(texts(1)) != 0 {
			t.Error("there is nothing to try")
		}
	})
	t.Run("somebody writes", func(t *testing.T) {
		p := connectTCP(t, Options{})
		p.host.out.writing <- struct{}{}
		if n := p.host.TryWriteBatch(texts(1)); n != 0 {
			t.Errorf("%d taken", n)
		}
		<-p.host.out.writing
		if n := p.host.TryWriteBatch(texts(1)); n != 1 {
			t.Errorf("%d taken, want 1", n)
		}
	})
	t.Run("the end", func(t *testing.T) {
		p := connectTCP(t, Options{})
		p.host.Close(CodeNormal, "")
		if n := p.host.TryWriteBatch(texts(1)); n != 0 {
			t.Errorf("%d taken", n)
		}
	})
}

// A peer that reads nothing fills the socket. The frame that a try has begun gets the
// same time as any write, and then the connection is closed.
func TestTryOfASlowPeer(t *testing.T) {
	p := connectTCP(t, Options{WriteStall: 50 * time.Millisecond})
	for p.host.TryWriteBatch(texts(pieceSize/2)) > 0 {
	}
	wantClosed(t, p.host.WriteBatch(texts(pieceSize)), CodeSlow, false)
	p.host.Wait()
}

// The deadline of a write that waited does not prevent later tries.
func TestTryAfterAWait(t *testing.T) {
	const stall = 300 * time.Millisecond
	p := connectTCP(t, Options{WriteStall: stall})
	_ = p.host.out.nc.Conn.SetWriteDeadline(time.Unix(1, 0)) // prevents the next try
	if n := p.host.TryWriteBatch(texts(1)); n != 0 {
		t.Fatalf("%d taken behind the deadline", n)
	}
	if err := p.host.WriteBatch(texts(1)); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); time.Since(begun) < stall+10*time.Millisecond; {
		if n := p.host.TryWriteBatch(texts(10)); n != 1 {
			t.Fatalf("%d taken after %s", n, time.Since(begun))
		}
		if _, err := p.client.ReadMessage(); err != nil {
			t.Fatal(err)
		}
	}
}
