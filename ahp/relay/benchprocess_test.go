package relay

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// In a benchmark, each of the two relays runs in a separate process, as in
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
			WriteStall: time.Hour, PingAfter: time.Hour, // however slow the machine is
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
