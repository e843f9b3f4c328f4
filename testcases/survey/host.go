package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// relay is a relay as a process, and the folder of all hosts.
type relay struct {
	binary, dir, url string
	networks         *networks // nil: all are in this program's
	process          *process
}

func (r *relay) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.binary, args...) // stop ends it
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+r.dir, "XDG_STATE_HOME="+r.dir, "AHP_CANVAS_TOKEN=")
	if r.networks != nil {
		cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+r.networks.cert)
	}
	return cmd
}

// serve is the command of the relay itself.
func (r *relay) serve(ctx context.Context, tokens string) *exec.Cmd {
	args := []string{"relay", "--json", "--log-level", "warn", "--tokens", tokens}
	n := r.networks
	if n == nil {
		return r.command(ctx, append(args, "--listen", "127.0.0.1:0")...)
	}
	cmd := r.command(ctx, append(args, "--listen", "0.0.0.0:"+relayPort, "--tls-cert", n.cert, "--tls-key", n.key,
		"--origin", relayOrigin, "--content-origin", "https://"+relayContent+":"+relayPort)...)
	cmd.Args = in(n.relay, cmd.Args...)
	cmd.Path, cmd.Err = exec.LookPath(cmd.Args[0])
	return cmd
}

func (r *relay) key() string { return filepath.Join(r.dir, "key.json") }

func newRelay(ctx context.Context, binary string, apart bool) (r *relay, err error) {
	r = &relay{binary: binary}
	if r.dir, err = os.MkdirTemp("", "survey-"); err != nil {
		return nil, err
	}
	if apart {
		if r.networks, err = newNetworks(ctx, r.dir); err != nil {
			r.stop()
			return nil, err
		}
	}
	tokens := filepath.Join(r.dir, "tokens.json")
	if out, err := r.command(ctx, "relay", "token", "--tokens", tokens, "--host", "laptop", "--out", r.key()).CombinedOutput(); err != nil {
		r.stop()
		return nil, fmt.Errorf("no token of the relay: %w: %s", err, out)
	}
	var first []byte
	r.process, first, err = beginLine(r.serve(ctx, tokens))
	var at struct{ Relay string }
	if err == nil {
		err = json.Unmarshal(first, &at)
	}
	if err != nil {
		r.stop()
		return nil, err
	}
	r.url = at.Relay
	return r, nil
}

func (r *relay) stop() {
	r.process.kill()
	r.networks.remove()
	_ = os.RemoveAll(r.dir)
}

// host starts a host with canvases. link is that of its page, or of the relay's.
func (r *relay) host(ctx context.Context, w way, canvases ...string) (p *process, link string, err error) {
	args := []string{"serve", "--json", "--browser", "none", "--state", "memory", "--workspace", r.dir, "--listen", "127.0.0.1:0"}
	switch w {
	case near:
		args = append(args, "--content", "listener")
	case relayed:
		args = append(args, "--relay", r.url, "--relay-token-file", r.key())
	}
	p, first, err := beginLine(r.command(ctx, append(args, canvases...)...))
	if err != nil {
		return nil, "", err
	}
	var at struct{ Link string }
	if err := json.Unmarshal(first, &at); err != nil {
		p.kill()
		return nil, "", err
	}
	return p, at.Link, nil
}
