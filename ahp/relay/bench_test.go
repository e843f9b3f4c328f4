package relay

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// In a benchmark, each of the two relays runs in a process of its own, as in
// production, so its memory can be measured: this binary, started again with
// the variables below.
const (
	childVariable = "AHP_RELAY_TEST_CHILD"
	childAddress  = "AHP_RELAY_TEST_ADDRESS" // where it listens; a free port of loopback
)

// child runs in the process instead of the tests. It prints its address, and
// for each line of standard input its number of goroutines. It ends when
// standard input does.
func child(kind string) {
	l, err := net.Listen("tcp", cmp.Or(os.Getenv(childAddress), "127.0.0.1:0"))
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	switch kind {
	case "edge":
		e := New(EdgeOptions{
			Hosts: []string{edgeHost}, Authorizer: testTokens(),
			ClientRate: 1e6, ClientBurst: 1e6, HostRate: 1e6, HostBurst: 1e6, ClientMessage: 64 << 20, HostMessage: 64 << 20,
		})
		srv := &http.Server{Handler: e, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		go func() { _ = srv.Serve(l) }()
	case "splice":
		go splice(l)
	}
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		runtime.GC() // so that only reachable memory counts
		fmt.Println(runtime.NumGoroutine())
	}
}

// splice connects each pair of connections with the kernel's splice, which is
// the fastest that a relay can be.
func splice(l net.Listener) {
	for {
		a, err := l.Accept()
		if err != nil {
			return
		}
		b, err := l.Accept()
		if err != nil {
			return
		}
		for _, ends := range [][2]net.Conn{{a, b}, {b, a}} {
			go func() {
				_, _ = io.Copy(ends[0], ends[1])
				_ = ends[0].(*net.TCPConn).CloseWrite()
			}()
		}
	}
}

type process struct {
	cmd  *exec.Cmd
	addr string
	in   io.Writer
	out  *bufio.Reader
}

func startChild(t testing.TB, kind, address string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+kind, childAddress+"="+address)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	p := &process{cmd: cmd, in: in, out: bufio.NewReader(out)}
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.addr = strings.TrimSpace(line)
	return p
}

// kill kills the process.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// goroutines returns the process's number of goroutines.
func (p *process) goroutines(t testing.TB) int {
	t.Helper()
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	n, convErr := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || convErr != nil {
		t.Fatalf("%q, %v", line, err)
	}
	return n
}

// descriptors returns the number of open files of the process, or -1 if the
// system does not report it.
func (p *process) descriptors() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		return -1
	}
	return len(entries)
}

// resident returns the process's current or highest memory in MB, or -1 if the
// system does not report it.
func (p *process) resident(highest bool) float64 {
	row := "VmRSS:"
	if highest {
		row = "VmHWM:"
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, row); ok {
			kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err == nil {
				return float64(kb) / 1024
			}
		}
	}
	return -1
}

func (p *process) network() *network {
	return &network{dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, p.addr)
	}}
}

// ends holds both ends of one lane as bare sockets, with readers and the
// prepared frame.
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
