package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// program is a running process.
type program struct {
	cmd  *exec.Cmd
	errs *tail
	done chan struct{} // closed when it has ended
}

// start starts a program and returns its first line of output.
func start(cmd *exec.Cmd) (*program, []byte, error) {
	p := &program{cmd: cmd, errs: &tail{}, done: make(chan struct{})}
	cmd.Stderr = p.errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadBytes('\n')
	go func() {
		defer close(p.done)
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait()
	}()
	if err != nil {
		p.kill()
		return nil, nil, fmt.Errorf("%s did not start: %s", filepath.Base(cmd.Path), p.errs)
	}
	return p, first, nil
}

// kill kills the program and waits for its end.
func (p *program) kill() {
	if p != nil {
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// tail keeps the last bytes that were written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	t.data = t.data[max(0, len(t.data)-4096):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// programs are a host and its relay as processes, in a separate folder.
type programs struct {
	binary, dir string
	host        *program
	at          endpoint
	id          seal.Identity
	hostAdmin   string // host:port of its metrics

	mu         sync.Mutex
	relay      *program
	relayAdmin string
	relayURL   string
	relayToken string
}

// endpoint is the first line of serve --json.
type endpoint struct{ Link, AHP, MCP, ViewToken, AgentToken string }

// launch starts a relay and a host.
func launch(ctx context.Context, binary string) (p *programs, err error) {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return nil, err
	}
	p = &programs{binary: binary, dir: dir}
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	key := filepath.Join(dir, "key.json")
	if err := p.mint(ctx, key); err != nil {
		return nil, err
	}
	if err := p.startRelay(ctx, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if p.hostAdmin, err = freeAddress(); err != nil {
		return nil, err
	}
	var first []byte
	p.host, first, err = start(p.command(ctx, "serve", "--json", "--browser", "none", "--state", p.state(), "--workspace", dir, "--listen", "127.0.0.1:0",
		"--admin", p.hostAdmin, "--relay", p.relayURL, "--relay-token-file", key))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(first, &p.at); err != nil {
		return nil, err
	}
	p.id, err = identity(p.at.Link)
	return p, err
}

func (p *programs) state() string { return filepath.Join(p.dir, "state") }

// command is a command of the program. Its host is not that of the user.
func (p *programs) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.binary, args...) // stop and kill end it
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+p.dir, "XDG_STATE_HOME="+p.dir, "HOME="+p.dir, "AHP_CANVAS_TOKEN=")
	return cmd
}

// mint makes the relay's tokens.
func (p *programs) mint(ctx context.Context, key string) error {
	out, err := p.command(ctx, "relay", "token", "--tokens", filepath.Join(p.dir, "tokens.json"), "--host", "laptop", "--out", key).CombinedOutput()
	if err != nil {
		return fmt.Errorf("no token of the relay: %w: %s", err, out)
	}
	text, err := os.ReadFile(key)
	if err != nil {
		return err
	}
	var made struct{ ClientToken string }
	err = json.Unmarshal(text, &made)
	p.relayToken = made.ClientToken
	return err
}

// startRelay starts the relay at an address.
func (p *programs) startRelay(ctx context.Context, address string) error {
	admin, err := freeAddress()
	if err != nil {
		return err
	}
	relay, first, err := start(p.command(ctx, "relay", "--json", "--log-level", "warn", "--listen", address, "--admin", admin, "--tokens", filepath.Join(p.dir, "tokens.json")))
	if err != nil {
		return err
	}
	var at struct{ Relay string }
	if err := json.Unmarshal(first, &at); err != nil {
		relay.kill()
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.relay, p.relayAdmin, p.relayURL = relay, admin, at.Relay
	return nil
}

// freeAddress returns an address of this machine that is free now.
func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

// identity returns what a link says about a host behind a relay.
func identity(link string) (id seal.Identity, err error) {
	_, fragment, _ := strings.Cut(link, "#")
	said, err := url.ParseQuery(fragment)
	if err != nil {
		return id, errors.New("the link of the host cannot be read")
	}
	id.Host = said.Get("host")
	id.Key, err = seal.ParsePublicKey(said.Get("key"))
	return id, err
}

// stop ends everything and removes the folder.
func (p *programs) stop() {
	p.host.kill()
	p.mu.Lock()
	relay := p.relay
	p.mu.Unlock()
	relay.kill()
	_ = os.RemoveAll(p.dir)
}

// Connect implements people.
func (p *programs) Connect(ctx context.Context, relayed bool) (*client.Client, func(), error) {
	if relayed {
		return dial(ctx, p.relayURL+"ahp/laptop", client.Options{Token: p.relayToken, HostToken: p.at.ViewToken, Seal: &p.id})
	}
	return dial(ctx, p.at.AHP, client.Options{Token: p.at.ViewToken})
}

// dial connects a client, whose connection vanish drops.
func dial(ctx context.Context, url string, o client.Options) (c *client.Client, vanish func(), err error) {
	var mu sync.Mutex
	var last net.Conn
	o.NetDial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		mu.Lock()
		defer mu.Unlock()
		last = nc
		return nc, err
	}
	c, err = client.Dial(ctx, url, o)
	return c, func() {
		mu.Lock()
		defer mu.Unlock()
		_ = last.Close()
	}, err
}

// Relay implements kills: it kills the relay and starts it at its address.
func (p *programs) Relay(ctx context.Context) error {
	p.mu.Lock()
	relay := p.relay
	p.mu.Unlock()
	relay.kill()
	at, err := url.Parse(p.relayURL)
	if err != nil {
		return err
	}
	return p.startRelay(ctx, at.Host)
}

// Provide implements kills: the provider is this program, started again.
func (p *programs) Provide(ctx context.Context) (kill func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal([]string{p.at.AHP, p.at.AgentToken})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self)
	cmd.Env = append(os.Environ(), workerEnv+"="+string(to))
	started, _, err := start(cmd)
	if err != nil {
		return nil, err
	}
	return started.kill, nil
}
