package peer

import (
	"net"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Delivering a shared frame allocates nothing for a recipient.
func TestDeliverAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := newStack(t, echo, Options{})
	host, _ := s.raw(t)
	var got counter
	done := make(chan struct{})
	go func() { defer close(done); got.drain(s.wires[0]) }()
	f := sharedFrame(t)
	sent := int64(0)
	allocs := testing.AllocsPerRun(2000, func() {
		for range 16 {
			host.Push(f)
		}
		for sent += 16 * int64(f.Size()+4); got.n.Load() < sent; {
			runtime.Gosched()
		}
	})
	t.Logf("%.2f allocations for each of 16 deliveries", allocs/16)
	if allocs/16 > 0.5 {
		t.Errorf("%.2f allocations a delivery, want at most 0.5", allocs/16)
	}
	host.Close(ws.CodeNormal, "")
	_ = s.wires[0].Close()
	<-done
}

// A call and its answer, with a Peer on both sides.
func TestCallAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := newStack(t, echo, Options{})
	host, _ := s.client(t, echo, Options{})
	allocs := testing.AllocsPerRun(2000, func() { mustCall(t, host, "canvasOpen", askParams) })
	t.Logf("%.0f allocations a call, both sides", allocs)
	if allocs > 50 {
		t.Errorf("%.0f allocations a call, want at most 50", allocs)
	}
}

// An idle connection's heap and stack on this side, without the log's subscriptions.
func TestIdleMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector uses memory, too")
	}
	const n = 400
	url, hosts := tcpHost(t, echo, Options{})
	var socks []net.Conn
	var peers []*Peer
	open := func(count int) {
		for range count {
			socks = append(socks, bareSocket(t, url))
			p := <-hosts
			p.Push(text(`{"jsonrpc":"2.0","method":"hello"}`))
			peers = append(peers, p)
		}
	}
	open(50) // allocates the pools and the server
	socket := clientSocket(t, n)
	heap, stack := inUse()
	open(n)
	heapAfter, stackAfter := inUse()
	heap, stack = (heapAfter-heap)/n, (stackAfter-stack)/n
	heap -= socket
	each := heap + stack
	t.Logf("an idle connection holds %d bytes: %d of heap, %d of stack", each, heap, stack)
	if each > 11<<10 {
		t.Errorf("%d bytes, want at most %d", each, 11<<10)
	}
	for i, p := range peers {
		socks[i].Close()
		p.Wait()
	}
}

// clientSocket returns the heap of a client's socket. The listener never accepts, so
// the other end is in the kernel only.
func clientSocket(t *testing.T, n int64) int64 {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before, _ := inUse()
	var socks []net.Conn
	for range n {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		socks = append(socks, nc)
	}
	after, _ := inUse()
	runtime.KeepAlive(socks)
	return (after - before) / n
}

func inUse() (heap, stack int64) {
	for range 3 {
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse)
}
