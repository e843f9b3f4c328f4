package rows

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

// oneReceiver returns receivers with one subscriber, and the other end of its
// connection.
func oneReceiver(t *testing.T) (*receivers, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	c := newReceivers()
	t.Cleanup(c.close)
	if err := c.sockets.add(conn, c.count); err != nil {
		t.Fatal(err)
	}
	return c, other
}

func send(t *testing.T, conn net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(conn, s); err != nil {
		t.Fatal(err)
	}
}

// A mark counts once, wherever it is split.
func TestReceiversCountsCutMarks(t *testing.T) {
	c := newReceivers()
	ends, buf := &tail{}, make([]byte, 64)
	text := "a" + sides.Mark + "bc" + sides.Mark + sides.Mark
	want := int64(0)
	for size := 1; size <= len(text); size++ {
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			c.count(ends, buf, copy(buf[lead:], rest[:min(size, len(rest))]), nil)
		}
		if want += 3; c.total.Load() != want {
			t.Fatalf("%d marks in pieces of %d bytes, want 3", 3+c.total.Load()-want, size)
		}
	}
}

func TestReceiversFails(t *testing.T) {
	t.Run("too few", func(t *testing.T) {
		c, other := oneReceiver(t)
		c.timeout = 50 * time.Millisecond
		send(t, other, sides.Mark)
		if err := c.wait(2); err == nil || !strings.Contains(err.Error(), "of 2 messages") {
			t.Error(err)
		}
	})
	t.Run("too many", func(t *testing.T) {
		c, other := oneReceiver(t)
		send(t, other, strings.Repeat(sides.Mark, 3))
		if err := c.wait(2); err == nil || !strings.Contains(err.Error(), "3 messages arrived") {
			t.Error(err)
		}
	})
	t.Run("ended", func(t *testing.T) {
		c, other := oneReceiver(t)
		send(t, other, sides.Mark)
		_ = other.Close()
		if err := c.wait(2); err != io.EOF {
			t.Error(err)
		}
	})
}
