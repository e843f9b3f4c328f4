package peer

import (
	"bytes"
	"sync/atomic"
	"testing"
)

// overwritten is a frame that reuses its bytes once it has been written.
type overwritten struct {
	bytes    []byte
	notified *atomic.Int32
}

func (s overwritten) Bytes() []byte { return s.bytes }
func (s overwritten) Size() int     { return len(s.bytes) }
func (s overwritten) Written() {
	s.notified.Add(1)
	for i := range s.bytes {
		s.bytes[i] = '!'
	}
}

// TestWritten: a long frame is notified once, and not before the socket or a copy has
// its bytes, whether it is written at once, later, or in pieces.
func TestWritten(t *testing.T) {
	const n = 300
	url, hosts := tcpHost(t, HandlerFunc(nil), Options{QueueBytes: 64 << 20})
	g := dialTCP(t, url)
	host := <-hosts
	notified := make([]atomic.Int32, n)
	frame := func(i int) []byte {
		size := []int{100, 40 << 10, 200 << 10}[i%3]
		return bytes.Repeat([]byte{byte('a' + i%26)}, size)
	}
	for i := range n {
		host.Push(overwritten{frame(i), &notified[i]})
	}
	for i := range n {
		_, got, err := g.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, frame(i)) {
			t.Fatalf("frame %d was changed: %.40q", i, got)
		}
	}
	g.Close()
	<-host.Done()
	host.Wait()
	for i := range notified {
		want := int32(1)
		if len(frame(i)) < notifyFrom {
			want = 0
		}
		if n := notified[i].Load(); n != want {
			t.Errorf("frame %d was notified %d times", i, n)
		}
	}
}
