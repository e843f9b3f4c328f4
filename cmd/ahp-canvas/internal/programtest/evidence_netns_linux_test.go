package programtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
)

// The three parties of a relay. Relay and host share one wire, relay and client
// another; nothing leads from wire to wire.
const (
	relayToHost, hostAddress     = "10.231.1.1", "10.231.1.2"
	relayToClient, clientAddress = "10.231.2.1", "10.231.2.2"
)

// network is three network namespaces. Each is also a machine of its own in that
// its /etc/hosts is.
type network struct{ host, relay, client string }

// nsPrefix begins the names of our namespaces; the test's process id follows.
const nsPrefix = "ahpevidence"

// newNetwork makes the namespaces, which end with the test.
func newNetwork(t *testing.T) network {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "network namespaces take root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		missing(t, "there is no ip (iproute2)")
	}
	removeLeftOvers(t)
	name := func(role string) string { return fmt.Sprintf("%s-%d-%s", nsPrefix, os.Getpid(), role) }
	n := network{name("host"), name("relay"), name("client")}
	for _, ns := range []string{n.host, n.relay, n.client} {
		t.Cleanup(func() { removeNamespace(ns) })
		if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
			missing(t, fmt.Sprintf("ip netns add: %v: %s", err, out))
		}
		ip(t, "-n", ns, "link", "set", "lo", "up")
		// A namespace begins with the machine's own setting.
		ip(t, "netns", "exec", ns, "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
	}
	wire(t, n.relay, "to-host", relayToHost, n.host, "to-relay", hostAddress)
	wire(t, n.relay, "to-client", relayToClient, n.client, "to-relay", clientAddress)
	hosts := filepath.Join("/etc/netns", n.host)
	if err := os.MkdirAll(hosts, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hosts, "hosts"), []byte("127.0.0.1 localhost\n"+relayToHost+" relay.test\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return n
}

// ip runs iproute2, which must succeed.
func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// wire joins two namespaces by a cable with an address at each end.
func wire(t *testing.T, a, aLink, aAddress, b, bLink, bAddress string) {
	t.Helper()
	ip(t, "link", "add", aLink, "netns", a, "type", "veth", "peer", "name", bLink, "netns", b)
	for _, end := range [][3]string{{a, aLink, aAddress}, {b, bLink, bAddress}} {
		ip(t, "-n", end[0], "address", "add", end[2]+"/30", "dev", end[1])
		ip(t, "-n", end[0], "link", "set", end[1], "up")
	}
}

// The process's first thread stays with the main goroutine. Were it free, a dialer
// could take it into a namespace, for ever: the process itself would count as one of
// that namespace, and be killed with it.
func init() { runtime.LockOSThread() }

// removeNamespace ends what still runs in a namespace of ours, and removes it.
func removeNamespace(name string) {
	pids, _ := exec.Command("ip", "netns", "pids", name).Output()
	for pid := range strings.FieldsSeq(string(pids)) {
		if n, err := strconv.Atoi(pid); err == nil && n != os.Getpid() {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
	_ = exec.Command("ip", "netns", "delete", name).Run()
	_ = os.RemoveAll(filepath.Join("/etc/netns", name))
	_ = os.Remove("/etc/netns") // where it is empty
}

// removeLeftOvers removes the namespaces of tests whose process is gone.
func removeLeftOvers(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"/run/netns", "/etc/netns"} {
		left, _ := filepath.Glob(filepath.Join(dir, nsPrefix+"-*"))
		for _, path := range left {
			parts := strings.Split(filepath.Base(path), "-")
			if pid, err := strconv.Atoi(parts[1]); err == nil && !reach.Alive(pid) {
				removeNamespace(filepath.Base(path))
			}
		}
	}
}

// via is a command in front of another that runs it in a namespace.
func via(ns string) []string { return []string{"ip", "netns", "exec", ns} }

// setns is the system call, which package syscall does not name everywhere.
var setns = map[string]uintptr{"amd64": 308, "arm64": 268}[runtime.GOARCH]

// dialer opens connections from within a namespace.
func dialer(ns string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	type opened struct {
		conn net.Conn
		err  error
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		done := make(chan opened, 1)
		go func() {
			runtime.LockOSThread() // for ever: the thread ends with its goroutine
			conn, err := dialFrom(ctx, ns, network, addr)
			done <- opened{conn, err}
		}()
		o := <-done
		return o.conn, o.err
	}
}

// dialFrom moves its thread into the namespace.
func dialFrom(ctx context.Context, ns, network, addr string) (net.Conn, error) {
	f, err := os.Open(filepath.Join("/run/netns", ns))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, _, errno := syscall.RawSyscall(setns, f.Fd(), syscall.CLONE_NEWNET, 0); errno != 0 {
		return nil, fmt.Errorf("setns: %w", errno)
	}
	d := net.Dialer{Timeout: 5 * time.Second}
	return d.DialContext(ctx, network, addr)
}

// browserIn makes webtest start its browser in a namespace.
func browserIn(t *testing.T, ns string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		exe, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		script := "#!/bin/sh\nexec ip netns exec " + ns + " " + exe + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}
