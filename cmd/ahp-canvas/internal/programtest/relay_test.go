package programtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	cmdrelay "github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relay"

	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
)

// program is a command that runs until it is stopped, and its first line of output.
type program struct {
	errs *lockedBuffer
	line string
	stop func() int
	kill func()
}

func (m *machine) start(args ...string) *program {
	m.t.Helper()
	p := &program{errs: &lockedBuffer{}}
	cmd := m.command(context.WithoutCancel(m.t.Context()), args...)
	cmd.Stderr = p.errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	ended := false
	end := func(sig os.Signal) {
		if !ended {
			ended = true
			_ = cmd.Process.Signal(sig)
			_, _ = io.Copy(io.Discard, out)
			_ = cmd.Wait()
		}
	}
	p.kill = func() { end(syscall.SIGKILL) }
	p.stop = func() int {
		end(syscall.SIGTERM)
		return cmd.ProcessState.ExitCode()
	}
	m.t.Cleanup(func() { p.stop() })
	if p.line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		p.stop()
		m.t.Fatalf("%q: %v\n%s", args, err, p.errs)
	}
	return p
}

// identityOf returns what a link says about a host behind a relay.
func identityOf(t testing.TB, link string) *seal.Identity {
	t.Helper()
	_, fragment, _ := strings.Cut(link, "#")
	said, err := url.ParseQuery(fragment)
	if err != nil {
		t.Fatal(err)
	}
	key, err := seal.ParsePublicKey(said.Get("key"))
	if err != nil {
		t.Fatal(err)
	}
	return &seal.Identity{Host: said.Get("host"), Key: key}
}

// flipping dials a connection that changes a bit of the first message behind both handshakes.
func flipping(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	return &flippingConn{Conn: c}, err
}

type flippingConn struct {
	net.Conn
	writes int
}

func (c *flippingConn) Write(b []byte) (int, error) {
	if c.writes++; c.writes == 3 {
		b = append([]byte{}, b...)
		b[len(b)-1] ^= 1
	}
	return c.Conn.Write(b)
}

func body(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRelay runs a whole relay: it makes tokens, starts a relay and a host that registers
// with it, and connects a client with the link that the host prints.
func TestRelay(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	tokens, key := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "laptop.json")
	made := m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")
	var k relaykey.Key
	if err := json.Unmarshal([]byte(made), &k); err != nil || k.Host != "laptop" || k.HostToken == "" || k.ClientToken == "" {
		t.Fatalf("%s, %v", made, err)
	}
	if kept, _ := os.ReadFile(tokens); strings.Contains(string(kept), k.HostToken) || strings.Contains(string(kept), k.ClientToken) {
		t.Error("the token file holds a token")
	}
	if err := os.WriteFile(key, []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
	admin, hostAdmin := "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	r := m.start("relay", "--json", "--listen", "127.0.0.1:0", "--tokens", tokens, "--admin", admin, "--log-level", "debug")
	var at cmdrelay.Line
	if err := json.Unmarshal([]byte(r.line), &at); err != nil {
		t.Fatal(err)
	}
	s := m.serve("--state", "memory", "--relay", at.Relay, "--relay-token-file", key, "--admin", hostAdmin, "--log-level", "info")
	r.errs.await(t, `"host registered"`)

	link, err := url.Parse(s.Link)
	if err != nil || !strings.HasPrefix(s.Link, at.Page+"#") {
		t.Fatalf("the link is %s, the relay's page %s", s.Link, at.Page)
	}
	said, _ := url.ParseQuery(link.Fragment)
	if said.Get("host") != "laptop" || said.Get("tkn") != k.ClientToken || said.Get("view") != s.ViewToken {
		t.Errorf("the link says %v", said)
	}
	if page := body(t, at.Page); !strings.Contains(page, "page.js") {
		t.Errorf("the relay's page is %.100s", page)
	}
	to := at.Relay + "ahp/" + said.Get("host")
	if _, err := client.Dial(t.Context(), to, client.Options{Token: said.Get("tkn")}); ws.CodeOf(err) != ws.CodeSealNeeded {
		t.Errorf("a client that does not seal: %v", err)
	}
	other := &seal.Identity{Host: "laptop", Key: seal.NewKey().Public()}
	if _, err := client.Dial(t.Context(), to, client.Options{Token: said.Get("tkn"), Seal: other}); ws.CodeOf(err) != ws.CodeSealBroken {
		t.Errorf("a client that means another host: %v", err)
	}
	if _, err := client.Dial(t.Context(), to, client.Options{Token: said.Get("tkn"), Seal: identityOf(t, s.Link)}); !strings.Contains(fmt.Sprint(err), "role") {
		t.Errorf("a client that has the relay's token alone: %v", err)
	}
	c, err := client.Dial(t.Context(), to, client.Options{Token: said.Get("tkn"), HostToken: said.Get("view"), Seal: identityOf(t, s.Link)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := client.Dial(t.Context(), to, client.Options{Token: said.Get("tkn"), HostToken: said.Get("view"), Seal: identityOf(t, s.Link), NetDial: flipping}); ws.CodeOf(err) != ws.CodeSealBroken {
		t.Errorf("a client whose message was changed: %v", err)
	}
	s.errs.await(t, "was changed on its way")
	m.do(0, "open", "board")
	view := m.start("view", "--json", s.Link)
	if !strings.Contains(view.line, `"canvasId":"board"`) || !strings.Contains(view.line, `"url":"http://`) {
		t.Errorf("view through the relay: %s", view.line)
	}
	view.stop()
	m.do(1, "view", strings.Replace(s.Link, "&key=", "&key="+other.Key.String()+"&was=", 1))
	if !strings.Contains(m.err, "is not passing on what the host") {
		t.Errorf("view with another key: %s", m.err)
	}
	for address, wants := range map[string][]string{
		admin:     {"ahp_relay_hosts 1", "ahp_relay_lanes 1", "ahp_relay_connections 3", `ahp_relay_refused_total{reason="offline"} 0`, "go_goroutines"},
		hostAdmin: {"ahp_canvas_connections 1", "ahp_canvas_relay_registered 1", `ahp_canvas_relay_refused_total{reason="clear"} 1`, `ahp_canvas_relay_refused_total{reason="handshake"} 2`, `ahp_canvas_relay_refused_total{reason="changed"} 1`, "process_open_fds"},
	} {
		have := body(t, "http://"+address+"/metrics")
		for _, want := range wants {
			if !strings.Contains(have, want) {
				t.Errorf("the metrics of %s lack %q", address, want)
			}
		}
		if body(t, "http://"+address+"/healthz") != "ok\n" {
			t.Error("no health")
		}
	}
	for name, log := range map[string]string{"relay": r.errs.String(), "host": s.errs.String()} {
		for line := range strings.Lines(log) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: no JSON: %s", name, line)
			}
		}
		for _, secret := range []string{k.HostToken, k.ClientToken, s.ViewToken, s.AgentToken, "tkn="} {
			if strings.Contains(log, secret) {
				t.Errorf("the %s's log has a token:\n%s", name, log)
			}
		}
	}
	if code := r.stop(); code != 0 {
		t.Errorf("the relay ended with %d:\n%s", code, r.errs)
	}
	<-c.Disconnected()
	if code := ws.CodeOf(c.Err()); code != ws.CodeGoingAway {
		t.Errorf("a relay that stops tells its clients %d: %v", code, c.Err())
	}
}

// TestRelayClear: with --relay-clear the link has no key, and both kinds of clients connect.
// The key of the host outlives a restart.
func TestRelayClear(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	tokens, key, state := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "laptop.json"), filepath.Join(dir, "state")
	m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop", "--out", key)
	r := m.start("relay", "--listen", "127.0.0.1:0", "--tokens", tokens)
	through := []string{"--state", state, "--relay", strings.TrimSpace(r.line), "--relay-token-file", key, "--log-level", "info"}
	sealed := m.serve(through...)
	id := identityOf(t, sealed.Link)
	sealed.stop(syscall.SIGTERM)
	clear := m.serve(append(through, "--relay-clear")...)
	clear.errs.await(t, `"registered with the relay"`)
	if strings.Contains(clear.Link, "key=") {
		t.Errorf("the link has a key: %s", clear.Link)
	}
	k, err := relaykey.Read(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]*seal.Identity{"clear": nil, "sealed, with the key of the last run": id} {
		c, err := client.Dial(t.Context(), strings.TrimSpace(r.line)+"ahp/laptop", client.Options{Token: k.ClientToken, HostToken: clear.ViewToken, Seal: id})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.Close()
	}
}

func TestRelayRefuses(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	tokens, key := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "key.json")
	m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop", "--kind", "client", "--subject", "ann", "--valid", "1h")
	if err := os.WriteFile(key, []byte(m.lastOut), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(dir, "wrong.json")
	if err := os.WriteFile(wrong, []byte(`{"host":"laptop","hostToken":"not-a-token-of-that-relay"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := m.start("relay", "--listen", "127.0.0.1:0", "--tokens", tokens)
	to := strings.TrimSpace(r.line)
	for _, tc := range []struct {
		want int
		args string
		say  string
	}{
		{2, "relay", "needs --tokens"},
		{1, "relay --listen 127.0.0.1:0 --tokens " + dir + "/absent.json", "create it with"},
		{2, "relay --tokens " + tokens + " --listen 0.0.0.0:0", "requires TLS"},
		{2, "relay --tokens " + tokens + " --listen 127.0.0.1:0 --tls-cert x", "tls-key"},
		{1, "relay --tokens " + tokens + " --listen 127.0.0.1:0 --tls-cert x --tls-key y", "--tls-cert and --tls-key: "},
		{2, "relay token --tokens " + tokens + " --host LAPTOP", "a name has"},
		{2, "relay token --tokens " + tokens + " --host *", "a name has"},
		{2, "relay token --tokens " + tokens + " --host a --kind other", "host, client or both"},
		{2, "relay token --tokens " + tokens + " --host a --valid -1h", "never expires"},
		{2, "relay token --tokens " + tokens + " --host a --valid 0s", "never expires"},
		{2, "serve --state memory --relay wss://relay.example/", "relay-token-file"},
		{1, "serve --state memory --relay wss://relay.example/ --relay-token-file " + key, "no host token"},
		{2, "serve --state memory --relay https://relay.example/ --relay-token-file " + wrong, "of the form wss"},
		{1, "serve --state memory --relay " + to + " --relay-token-file " + wrong, "does not know the host token"},
	} {
		m.do(tc.want, strings.Fields(tc.args)...)
		if !strings.Contains(m.err, tc.say) || strings.Contains(m.err, "not-a-token") {
			t.Errorf("%s: %s", tc.args, m.err)
		}
	}
}

// TestRelayKeyIsPrivate checks that relay token --out writes a private file, and that a
// host warns about a file that is not.
func TestRelayKeyIsPrivate(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	tokens, key := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "laptop.json")
	if err := os.WriteFile(key, []byte("an old one"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop", "--out", key); out != "" {
		t.Errorf("it said %s", out)
	}
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if k, err := relaykey.Read(key); err != nil || k.Host != "laptop" || k.ClientToken == "" {
		t.Errorf("it holds %+v, %v", k, err)
	}
	relays := []string{"--state", "memory", "--relay", "ws://127.0.0.1:1/", "--relay-token-file", key}
	said := func() string {
		s := m.serve(relays...)
		s.stop(syscall.SIGTERM) // so that its output is complete
		return s.noise()
	}
	if text := said(); strings.Contains(text, "chmod 600") {
		t.Errorf("a private one: %s", text)
	}
	if err := os.Chmod(key, 0o640); err != nil {
		t.Fatal(err)
	}
	if text := said(); !strings.Contains(text, "Note: ") || !strings.Contains(text, "chmod 600") {
		t.Errorf("an open one: %q", text)
	}
}

// TestTheClockOfAHostGoesBack checks that a host whose clock went back registers as the
// newest run: the relay might not know yet that the last run has ended.
func TestTheClockOfAHostGoesBack(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	tokens, key, state := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "laptop.json"), filepath.Join(dir, "state")
	m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop", "--out", key)
	r := m.start("relay", "--listen", "127.0.0.1:0", "--tokens", tokens)
	through := []string{"--relay", strings.TrimSpace(r.line), "--relay-token-file", key, "--log-level", "info"}
	const registered = `"registered with the relay"`

	kept, err := statedir.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	last, err := kept.NewGeneration(time.Now().Add(time.Hour)) // the number of a run whose clock was wrong
	if err != nil {
		t.Fatal(err)
	}
	if next, err := kept.NewGeneration(time.Now()); err != nil || next != last+1 {
		t.Errorf("the next run is %d, after %d: %v", next, last, err)
	}
	kept.Release()
	lost := m.serve(append([]string{"--state", "memory"}, through...)...) // as if it were still running
	lost.errs.await(t, registered)
	back := m.serve(append([]string{"--state", state}, through...)...)
	back.errs.await(t, registered)
	lost.errs.await(t, "a newer run registered")
	again := m.serve(append([]string{"--state", "memory"}, through...)...) // newer by the clock alone
	again.errs.await(t, "a newer run registered")
	if said := back.errs.String(); strings.Contains(said, "a newer run") {
		t.Errorf("the host that reconnected:\n%s", said)
	}
}
