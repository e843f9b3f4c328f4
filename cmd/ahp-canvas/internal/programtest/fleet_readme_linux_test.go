package programtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
)

const relayReadme = "../../../../ahp/relay/README.md"

// readmeFleet are the machines of the fleet in ahp/relay/README.md, with the addresses and
// names that it has.
type readmeFleet struct {
	t      *testing.T
	dir    string            // the working folder of all
	places map[string]string // namespaces by role
	roots  *x509.CertPool
	edges  []*program
}

// readmeMachines are the machines, by role: their addresses and names.
var readmeMachines = map[string][]string{
	"nats": {"10.0.0.5", "nats.internal"}, "balancer": {"10.0.0.10", "relay.example"},
	"edge-1": {"10.0.0.11", "edge-1.relay.example"}, "edge-2": {"10.0.0.12", "edge-2.relay.example"}, "edge-3": {"10.0.0.13", "edge-3.relay.example"},
	"host": {"10.0.0.21"}, "client": {"10.0.0.22"},
}

func newReadmeFleet(t *testing.T) *readmeFleet {
	t.Helper()
	needNetworks(t)
	f := &readmeFleet{t: t, dir: t.TempDir(), places: map[string]string{}}
	hub := addNamespace(t, "hub")
	ip(t, "-n", hub, "link", "add", "hub", "type", "bridge")
	ip(t, "-n", hub, "link", "set", "hub", "up")
	var names strings.Builder
	names.WriteString("127.0.0.1 localhost\n")
	for _, m := range readmeMachines {
		names.WriteString(strings.Join(m, " ") + "\n")
	}
	for role, m := range readmeMachines {
		ns := addNamespace(t, "readme-"+role)
		f.places[role] = ns
		ip(t, "link", "add", "cable", "netns", ns, "type", "veth", "peer", "name", role, "netns", hub)
		ip(t, "-n", hub, "link", "set", role, "master", "hub", "up")
		ip(t, "-n", ns, "address", "add", m[0]+"/24", "dev", "cable")
		ip(t, "-n", ns, "link", "set", "cable", "up")
		etc := filepath.Join("/etc/netns", ns)
		if err := os.MkdirAll(etc, 0o755); err != nil {
			t.Fatal(err)
		}
		f.write(filepath.Join(etc, "hosts"), names.String())
	}
	f.certificates()
	return f
}

func (f *readmeFleet) write(file, text string) {
	f.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// certificates writes the certificates that the README names. Each is its own authority, so
// ca.pem has those of the NATS server and of the edges.
func (f *readmeFleet) certificates() {
	f.t.Helper()
	made := map[string]string{}
	for name, c := range map[string]struct {
		keyFile string
		names   []string
	}{
		"nats.pem": {"nats.key", []string{"nats.internal"}}, "edge.pem": {"edge.key", []string{"edge"}},
		"relay.pem": {"relay.key.pem", []string{"relay.example", "*.relay.example"}},
	} {
		cert, key := ahptest.WriteCertificate(f.t, f.t.TempDir(), int64(len(made)+1), c.names...)
		text, err := os.ReadFile(cert)
		if err != nil {
			f.t.Fatal(err)
		}
		made[name] = string(text)
		f.write(f.file(name), string(text))
		if err := os.Rename(key, f.file(c.keyFile)); err != nil {
			f.t.Fatal(err)
		}
	}
	f.write(f.file("ca.pem"), made["nats.pem"]+made["edge.pem"])
	f.write(f.file("revoked"), "")
	f.roots = x509.NewCertPool()
	f.roots.AppendCertsFromPEM([]byte(made["relay.pem"]))
}

func (f *readmeFleet) file(name string) string { return filepath.Join(f.dir, name) }

// command returns a command of the README that begins with a text, as words. The shell
// expands it in the folder of the fleet.
func (f *readmeFleet) command(begins string) []string {
	f.t.Helper()
	block := strings.ReplaceAll(readmeBlockOf(f.t, relayReadme, "sh", begins), "/etc/ahp-canvas/", f.dir+"/")
	line := strings.Replace(strings.TrimSpace(block), strings.Fields(begins)[0], "printf '%s\\n'", 1)
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = f.dir
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatal(err)
	}
	words := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, w := range words { // the programs of a test run in its own folder
		if _, err := os.Stat(f.file(w)); err == nil || w == "laptop.json" || w == "relay.key" || w == "relay.key.pub" {
			words[i] = f.file(w)
		}
	}
	return words
}

// machine returns a machine of the fleet.
func (f *readmeFleet) machine(role string) *machine {
	m := newMachine(f.t)
	m.via = via(f.places[role])
	m.env = append(m.env, "SSL_CERT_FILE="+f.file("relay.pem"))
	return m
}

// edge starts edge n, counted from 1, with the command of the README.
func (f *readmeFleet) edge(n int) *program {
	f.t.Helper()
	args := f.command("ahp-canvas relay --listen :443")
	for i := range args {
		args[i] = strings.Replace(strings.Replace(args[i], "edge-1.", fmt.Sprintf("edge-%d.", n), 1), "10.0.0.11:", fmt.Sprintf("10.0.0.1%d:", n), 1)
	}
	return f.machine(fmt.Sprint("edge-", n)).start(args...)
}

// haproxy starts the balancer with the configuration of the README.
func (f *readmeFleet) haproxy() *lockedBuffer {
	f.t.Helper()
	f.write(f.file("haproxy.cfg"), readmeBlockOf(f.t, relayReadme, "", "frontend relay\n"))
	line := append(via(f.places["balancer"]), "haproxy", "-db", "-f", f.file("haproxy.cfg"))
	said := &lockedBuffer{}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return said
}

// from returns a dial function of a machine.
func (f *readmeFleet) from(role string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := dialer(f.places[role])
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		for _, m := range readmeMachines {
			if port, found := strings.CutPrefix(addr, m[len(m)-1]+":"); found {
				addr = net.JoinHostPort(m[0], port)
				break
			}
		}
		return dial(ctx, network, addr)
	}
}

// key makes the tokens of a host with the README's command, which names the host laptop.
func (f *readmeFleet) key(host string) (k relaykey.Key) {
	f.t.Helper()
	args := f.command("ahp-canvas relay token --sign")
	for i := range args {
		args[i] = strings.Replace(args[i], "laptop", host, 1)
	}
	newMachine(f.t).do(0, args...)
	text, err := os.ReadFile(f.file(host + ".json"))
	if err != nil || json.Unmarshal(text, &k) != nil {
		f.t.Fatalf("%s, %v", text, err)
	}
	return k
}

// TestFleetOfTheReadme runs the fleet of ahp/relay/README.md with its commands, its balancer and
// its addresses, each on a machine in a network namespace: a NATS server that demands
// certificates, three edges, HAProxy, and a host that trusts only the edges it names. The edges
// are restarted one after the other under requests, and none fails.
func TestFleetOfTheReadme(t *testing.T) {
	if _, err := exec.LookPath("haproxy"); err != nil {
		missing(t, "haproxy is not installed")
	}
	f := newReadmeFleet(t)
	nats := &natsProcess{config: natsConfig{Args: f.command("nats-server --addr")}, via: via(f.places["nats"]), dir: f.dir}
	nats.start(t)
	t.Cleanup(nats.kill)
	laptop, other := f.key("laptop"), f.key("other")
	for n := range 3 {
		f.edges = append(f.edges, f.edge(n+1))
		f.edges[n].errs.await(t, "connected to NATS")
	}
	said := f.haproxy()
	host := f.machine("host")
	s := host.serve(append([]string{"--state", "memory", "--log-level", "info"}, f.command("ahp-canvas serve --relay wss")[1:]...)...)
	s.errs.await(t, "registered with the relay")
	if !strings.HasPrefix(s.Link, "https://relay.example/#tkn="+laptop.ClientToken) {
		t.Errorf("the link is %s", s.Link)
	}
	host.do(0, "open", "board")
	view := f.machine("client").start("view", "--json", s.Link)
	if !strings.Contains(view.line, `"canvasId":"board"`) {
		t.Errorf("view shows %s", view.line)
	}
	view.stop()
	f.rollingRestart(other)
	if text := said.String(); strings.Contains(text, "has no server available") || strings.Contains(text, "config") {
		t.Errorf("haproxy says\n%s", text)
	}
}

// rollingRestart restarts the edges one after the other under requests to a host.
func (f *readmeFleet) rollingRestart(k relaykey.Key) {
	f.t.Helper()
	trust := &tls.Config{RootCAs: f.roots}
	l := relaytest.NewLoad(f.t, func(int) (*ws.Conn, error) {
		return ws.Dial(f.t.Context(), "wss://relay.example/ahp/"+k.Host, ws.DialOptions{Token: k.ClientToken, NetDial: f.from("client"), TLS: trust, HandshakeTimeout: 30 * time.Second})
	}, func() time.Duration { return rand.N(300 * time.Millisecond) }, relaytest.NotPassed)
	runUplink(f.t, relay.UplinkOptions{URL: "wss://relay.example/", Token: k.HostToken, Host: k.Host, NetDial: f.from("host"), TLS: trust, Serve: l.Serve})
	l.Start(1, 12)
	for n, e := range f.edges {
		if code := e.stop(); code != 0 {
			f.t.Errorf("edge %d ended with %d:\n%s", n+1, code, e.errs)
		}
		f.edges[n] = f.edge(n + 1)
		f.edges[n].errs.await(f.t, "connected to NATS")
		l.Back("after a restart", time.Now())
	}
	l.Stop()
	if n := l.Failed(); n != 0 {
		f.t.Errorf("%d requests failed", n)
	}
	l.Check()
}
