package peer

import (
	"bytes"
	"sync/atomic"
	"testing"
)

// spoilt is a frame whose bytes are somebody else's once it is written.
type spoilt struct {
	bytes []byte
	told  *atomic.Int32
}

func (s spoilt) Bytes() []byte { return s.bytes }
func (s spoilt) Size() int     { return len(s.bytes) }
func (s spoilt) Written() {
	s.told.Add(1)
	for i := range s.bytes {
		s.bytes[i] = '!'
	}
}

// TestTold: a long frame is told once that it was written, and not before the
// socket or a copy has its bytes, whether it is tried, waits, or goes in pieces.
func TestTold(t *testing.T) {
	const n = 300
	url, hosts := tcpHost(t, HandlerFunc(nil), Options{QueueBytes: 64 << 20})
	g := dialTCP(t, url)
	host := <-hosts
	told := make([]atomic.Int32, n)
	frame := func(i int) []byte {
		size := []int{100, 40 << 10, 200 << 10}[i%3]
		return bytes.Repeat([]byte{byte('a' + i%26)}, size)
	}
	for i := range n {
		host.Push(spoilt{frame(i), &told[i]})
	}
	for i := range n {
		_, got, err := g.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, frame(i)) {
			t.Fatalf("frame %d is spoilt: %.40q", i, got)
		}
	}
	g.Close()
	<-host.Done()
	host.Wait()
	for i := range told {
		want := int32(1)
		if len(frame(i)) < toldFrom {
			want = 0
		}
		if n := told[i].Load(); n != want {
			t.Errorf("frame %d was told %d times", i, n)
		}
	}
}
