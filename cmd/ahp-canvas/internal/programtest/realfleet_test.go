package programtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// natsVariable has the configuration of a NATS server that this binary runs instead of the
// tests.
const natsVariable = "AHP_TEST_NATS"

// natsConfig is one NATS server of a cluster.
type natsConfig struct {
	Host        string
	Name        string
	Port, Route int      // of clients, and of the cluster's other servers
	Routes      []string // of all servers
	Args        []string // the arguments of nats-server, instead of all else
}

// serveNATS runs a NATS server until standard input ends.
func serveNATS(config string) {
	var c natsConfig
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		panic(err)
	}
	o := &natsd.Options{Host: c.Host, Port: c.Port, ServerName: c.Name, NoSigs: true, NoLog: true}
	if len(c.Routes) > 1 {
		o.Cluster = natsd.ClusterOpts{Name: "fleet", Host: c.Host, Port: c.Route, PingInterval: 2 * time.Second}
		o.Routes = natsd.RoutesFromStr(strings.Join(c.Routes, ","))
	}
	if len(c.Args) > 0 {
		given, err := natsd.ConfigureOptions(flag.NewFlagSet("nats-server", flag.PanicOnError), c.Args, nil, nil, nil)
		if err != nil {
			panic(err)
		}
		o = given
		o.NoSigs, o.NoLog = true, true
	}
	s, err := natsd.NewServer(o)
	if err != nil {
		panic(err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		panic("NATS does not start")
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	s.WaitForShutdown()
}

// natsProcess is a NATS server in another process.
type natsProcess struct {
	config natsConfig
	via    []string // in front of the command, as in ip netns exec NAME
	dir    string   // the working folder; "" is this one
	cmd    *exec.Cmd
}

// start starts the server, again at the same address if it was killed.
func (p *natsProcess) start(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := append(slices.Clone(p.via), self)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = p.dir
	config, err := json.Marshal(p.config)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), natsVariable+"="+string(config))
	cmd.Stderr = os.Stderr
	_, err1 := cmd.StdinPipe() // ends with this process
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	p.cmd = cmd
	if text, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		p.kill()
		t.Fatalf("NATS says %q: %v", text, err)
	}
}

// kill kills the server with SIGKILL.
func (p *natsProcess) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *natsProcess) url() string { return fmt.Sprintf("nats://%s:%d", p.config.Host, p.config.Port) }

// lastingPort returns a port that is free, and that systems do not give to outgoing
// connections: a program that was killed finds it free again.
func lastingPort(t *testing.T) int {
	t.Helper()
	for range 100 {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12_000+rand.N(18_000)))
		if err == nil {
			defer ln.Close()
			return ln.Addr().(*net.TCPAddr).Port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// startNATS starts a cluster of NATS servers, each a process.
func startNATS(t *testing.T, n int) (all []*natsProcess) {
	t.Helper()
	var routes []string
	for i := range n {
		c := natsConfig{Host: "127.0.0.1", Name: fmt.Sprint("nats-", i), Port: lastingPort(t), Route: lastingPort(t)}
		routes = append(routes, (&url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", c.Route)}).String())
		all = append(all, &natsProcess{config: c})
	}
	for _, p := range all {
		p.config.Routes = routes
		p.start(t)
		t.Cleanup(p.kill)
	}
	return all
}

// readmeBlock returns the code block of a file that begins with a text.
func readmeBlock(t *testing.T, file, begins string) string {
	t.Helper()
	return readmeBlockOf(t, file, "", begins)
}

// readmeBlockOf returns the code block of a language that begins with a text.
func readmeBlockOf(t *testing.T, file, language, begins string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "```"+language+"\n"+begins)
	block, _, ended := strings.Cut(block, "\n```")
	if !found || !ended {
		t.Fatalf("%s has no block that begins with %q", file, begins)
	}
	return begins + block + "\n"
}

// fleetName is the name of a fleet behind its balancer.
const fleetName = "relay.test"

// realFleet is a fleet of real programs: NATS servers and relays, each a process. fleetName
// leads to any of the relays.
type realFleet struct {
	m     *machine
	dir   string // with the signing key
	nats  []*natsProcess
	edges []*realEdge
}

type realEdge struct {
	*program
	addr, admin string
	args        []string
}

// newRealFleet starts three relays on three NATS servers.
func newRealFleet(t *testing.T, flags ...string) *realFleet {
	t.Helper()
	f := &realFleet{m: newMachine(t), dir: t.TempDir(), nats: startNATS(t, 3)}
	f.m.signedKey(f.dir, "first") // makes the signing key
	shared := append([]string{"--token-key", filepath.Join(f.dir, "relay.key.pub"), "--origin", "https://" + fleetName}, flags...)
	for _, n := range f.nats {
		shared = append(shared, "--nats", n.url())
	}
	for range 3 {
		e := &realEdge{addr: fmt.Sprint("127.0.0.1:", lastingPort(t)), admin: fmt.Sprint("127.0.0.1:", lastingPort(t))}
		shared = append(shared, "--edges", "ws://"+e.addr+"/")
		f.edges = append(f.edges, e)
	}
	for _, e := range f.edges {
		e.args = append([]string{"relay", "--listen", e.addr, "--advertise", "ws://" + e.addr + "/", "--admin", e.admin}, shared...)
		e.program = f.m.start(e.args...)
	}
	for i := range f.edges {
		f.joined(t, i)
	}
	return f
}

// restart starts an edge again, and waits until it is part of the fleet.
func (f *realFleet) restart(t *testing.T, i int) {
	t.Helper()
	f.edges[i].program = f.m.start(f.edges[i].args...)
	f.joined(t, i)
}

// joined waits until an edge knows the others.
func (f *realFleet) joined(t *testing.T, i int) {
	t.Helper()
	untilTrue(t, "edge that knows the others", func() bool {
		_, number, found := strings.Cut(body(t, "http://"+f.edges[i].admin+"/metrics"), "\nahp_relay_edges ")
		known := 0 // those that were killed count for some seconds
		_, err := fmt.Sscan(number, &known)
		return found && err == nil && known >= len(f.edges)-1
	})
}

// dial is the balancer of fleetName: it tries the edges in any order. Other addresses it dials.
func (f *realFleet) dial(ctx context.Context, network, addr string) (c net.Conn, err error) {
	var d net.Dialer
	if !strings.HasPrefix(addr, fleetName+":") {
		return d.DialContext(ctx, network, addr)
	}
	for _, i := range rand.Perm(len(f.edges)) {
		if c, err = d.DialContext(ctx, network, f.edges[i].addr); err == nil {
			return c, nil
		}
	}
	return nil, err
}
