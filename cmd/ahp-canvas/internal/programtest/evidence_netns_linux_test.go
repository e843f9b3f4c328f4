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

// The three parties of a relay. Relay and host share one cable, relay and client another;
// no route connects the two.
const (
	relayToHost, hostAddress     = "10.231.1.1", "10.231.1.2"
	relayToClient, clientAddress = "10.231.2.1", "10.231.2.2"
)

// network is three network namespaces. Each acts as a machine, with its own /etc/hosts.
type network struct{ host, relay, client string }

// nsPrefix begins the names of the test's namespaces; its process id follows.
const nsPrefix = "ahpevidence"

// newNetwork creates the namespaces, which are removed when the test ends.
func newNetwork(t *testing.T) network {
	t.Helper()
	needNetworks(t)
	n := network{addNamespace(t, "host"), addNamespace(t, "relay"), addNamespace(t, "client")}
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

// needNetworks skips the test if it cannot create namespaces.
func needNetworks(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "network namespaces take root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		missing(t, "there is no ip (iproute2)")
	}
	removeLeftOvers(t)
}

// addNamespace creates a namespace that does not forward, and removes it when the test ends.
func addNamespace(t *testing.T, role string) string {
	t.Helper()
	ns := fmt.Sprintf("%s-%d-%s", nsPrefix, os.Getpid(), role)
	t.Cleanup(func() { removeNamespace(ns) })
	if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("ip netns add: %v: %s", err, out))
	}
	ip(t, "-n", ns, "link", "set", "lo", "up")
	// A new namespace has the machine's own setting.
	ip(t, "netns", "exec", ns, "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
	return ns
}

// ip runs iproute2 and fails the test if that fails.
func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// wire connects two namespaces with a cable that has an address at each end.
func wire(t *testing.T, a, aLink, aAddress, b, bLink, bAddress string) {
	t.Helper()
	ip(t, "link", "add", aLink, "netns", a, "type", "veth", "peer", "name", bLink, "netns", b)
	for _, end := range [][3]string{{a, aLink, aAddress}, {b, bLink, bAddress}} {
		ip(t, "-n", end[0], "address", "add", end[2]+"/30", "dev", end[1])
		ip(t, "-n", end[0], "link", "set", end[1], "up")
	}
}

// Lock the process's first thread to the main goroutine. Otherwise a dialer could move it
// into a namespace permanently; the process would then count as part of the namespace and
// be killed with it.
func init() { runtime.LockOSThread() }

// removeNamespace kills the processes in a namespace of this test, and removes it.
func removeNamespace(name string) {
	pids, _ := exec.Command("ip", "netns", "pids", name).Output()
	for pid := range strings.FieldsSeq(string(pids)) {
		if n, err := strconv.Atoi(pid); err == nil && n != os.Getpid() {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
	_ = exec.Command("ip", "netns", "delete", name).Run()
	_ = os.RemoveAll(filepath.Join("/etc/netns", name))
	_ = os.Remove("/etc/netns") // fails unless the folder is empty
}

// removeLeftOvers removes the namespaces of tests whose process has ended.
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

// via is the command line that runs another command in a namespace.
func via(ns string) []string { return []string{"ip", "netns", "exec", ns} }

// setns is a system call that package syscall does not name on every architecture.
var setns = map[string]uintptr{"amd64": 308, "arm64": 268}[runtime.GOARCH]

// dialer returns a dial function for connections from within a namespace.
func dialer(ns string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	type opened struct {
		conn net.Conn
		err  error
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		done := make(chan opened, 1)
		go func() {
			runtime.LockOSThread() // never unlocked: Go ends the thread with the goroutine, so no other goroutine runs in the namespace
			conn, err := dialFrom(ctx, ns, network, addr)
			done <- opened{conn, err}
		}()
		o := <-done
		return o.conn, o.err
	}
}

// dialFrom dials in a thread that it moves into the namespace.
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
