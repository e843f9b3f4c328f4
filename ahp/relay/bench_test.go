package relay

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// ends holds both ends of one lane as bare sockets.
type ends struct{ client, host net.Conn }

// frame returns a frame of n bytes as a client or a server sends it.
func frame(n int, masked bool) []byte {
	b := []byte{0x81, 127}
	b = binary.BigEndian.AppendUint64(b, uint64(n))
	if n <= 0xFFFF {
		b = binary.BigEndian.AppendUint16([]byte{0x81, 126}, uint16(n))
	}
	if n <= 125 {
		b = []byte{0x81, byte(n)}
	}
	if masked {
		b[1] |= 0x80
		b = append(b, 1, 2, 3, 4)
	}
	return append(b, make([]byte, n)...)
}

// lanesOf connects n pairs over a relay. The host's ends are the sockets that
// the uplink dials, so both peers are bare sockets.
func lanesOf(t testing.TB, kind string, p *process, n int) []ends {
	t.Helper()
	var all []ends
	if kind == "splice" {
		for range n {
			a, err := net.Dial("tcp", p.addr)
			if err != nil {
				t.Fatal(err)
			}
			b, err := net.Dial("tcp", p.addr)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, ends{a, b})
		}
		return all
	}
	sockets := make(chan net.Conn, 1)
	nw := p.network()
	var dialed net.Conn
	hostSide := &network{dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := nw.dial(ctx, network, addr)
		dialed = c
		return c, err
	}}
	u := startUplink(t, hostSide, UplinkOptions{Dials: 1, MaxLanes: 1000, Drain: time.Millisecond, Serve: func(context.Context, *ws.Conn, LaneInfo) { sockets <- dialed }})
	u.await(t, Registered)
	for range n {
		var nc net.Conn
		_, err := tryDial(t, nw, "ahp/laptop", ws.DialOptions{Token: userToken, NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := nw.dial(ctx, network, addr)
			nc = c
			return c, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ends{nc, within(t, sockets)})
	}
	return all
}

// messages reads whole messages from a bare socket, however they are divided
// into frames. It parses only the headers.
type messages struct {
	conn       net.Conn
	buf        []byte
	start, end int
}

func (m *messages) next() error {
	for {
		final, left, err := m.header()
		if err != nil {
			return err
		}
		for left > 0 {
			if m.start == m.end {
				if err := m.fill(); err != nil {
					return err
				}
			}
			n := min(left, m.end-m.start)
			m.start += n
			left -= n
		}
		if final {
			return nil
		}
	}
}

func (m *messages) fill() error {
	m.end = copy(m.buf, m.buf[m.start:m.end])
	m.start = 0
	n, err := m.conn.Read(m.buf[m.end:])
	m.end += n
	return err
}

// header reads the next header and returns the size of the payload.
func (m *messages) header() (final bool, payload int, err error) {
	for {
		b := m.buf[m.start:m.end]
		size := 2
		if len(b) >= 2 {
			payload = int(b[1] & 0x7F)
			size += map[int]int{126: 2, 127: 8}[payload] + int(b[1]>>7)*4
		}
		if len(b) >= 2 && len(b) >= size {
			switch payload {
			case 126:
				payload = int(binary.BigEndian.Uint16(b[2:]))
			case 127:
				payload = int(binary.BigEndian.Uint64(b[2:]))
			}
			m.start += size
			return b[0]&0x80 != 0, payload, nil
		}
		if err := m.fill(); err != nil {
			return false, 0, err
		}
	}
}

// exchange sends n messages of a size to the hosts' ends and back, on all lanes
// concurrently.
func exchange(t testing.TB, all []ends, size, n int) {
	t.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	message := frame(size, true)
	var wg sync.WaitGroup
	for _, e := range all {
		trips := make(chan struct{}) // closed when this lane is done
		stopped := make(chan struct{})
		wg.Go(func() {
			defer close(stopped)
			in := &messages{conn: e.host, buf: make([]byte, 256<<10)}
			for in.next() == nil {
				if _, err := e.host.Write(message); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			defer close(trips)
			in := &messages{conn: e.client, buf: make([]byte, 256<<10)}
			for left.Add(-1) >= 0 {
				if _, err := e.client.Write(message); err != nil {
					t.Error(err)
					return
				}
				if err := in.next(); err != nil {
					t.Error(err)
					return
				}
			}
		})
		wg.Go(func() {
			<-trips
			_ = e.host.SetReadDeadline(time.Unix(1, 0))
			<-stopped
			_ = e.host.SetReadDeadline(time.Time{})
		})
	}
	wg.Wait()
}

// BenchmarkRelay compares the edge with the kernel's splice. In each round both
// carry the same messages; the benchmark reports the median ratio, in which
// more than 1 favors the edge. The cpu figure is the relay process's own time,
// which other programs on the machine affect least.
func BenchmarkRelay(b *testing.B) {
	for _, c := range []struct {
		name               string
		lanes, size, trips int
	}{{"64 lanes of 300 bytes", 64, 300, 6400}, {"64 lanes of 8 KiB", 64, 8 << 10, 3200}, {"1 lane of 10 MiB", 1, 10 << 20, 6}} {
		b.Run(c.name, func(b *testing.B) {
			kinds := []string{"splice", "edge"}
			procs := map[string]*process{}
			lanes := map[string][]ends{}
			for _, kind := range kinds {
				procs[kind] = startChild(b, kind, "")
				lanes[kind] = lanesOf(b, kind, procs[kind], c.lanes)
				exchange(b, lanes[kind], c.size, c.trips/2+1) // warm
			}
			var speed, cpu []float64
			for b.Loop() {
				took, used := map[string]float64{}, map[string]float64{}
				for _, kind := range kinds {
					began, before := time.Now(), procs[kind].cpuTime()
					exchange(b, lanes[kind], c.size, c.trips)
					took[kind], used[kind] = time.Since(began).Seconds(), procs[kind].cpuTime()-before
				}
				speed = append(speed, took["splice"]/took["edge"])
				cpu = append(cpu, used["splice"]/max(used["edge"], 0.001))
			}
			b.ReportMetric(median(speed), "x-splice")
			b.ReportMetric(median(cpu), "x-splice-cpu")
			b.ReportMetric(procs["edge"].resident(true), "MB")
			for _, all := range lanes {
				for _, e := range all {
					_ = e.client.Close()
					_ = e.host.Close()
				}
			}
		})
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// cpuTime returns the CPU time of the process, in clock ticks of 10 ms.
func (p *process) cpuTime() float64 {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return float64(user+system) / 100
}
