package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// reach is what makes a host reachable beyond its own listener: a relay, and the
// listener for who runs it.
type reach struct {
	relay, tokenFile string
	admin            admin
	key              relayKey // after load
	generation       int64    // of this run, after prepare; 0 before

	mu    sync.Mutex
	state relay.Progress
}

func (r *reach) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.relay, "relay", "", "relay through which people reach this host from anywhere, as in wss://relay.example/")
	f.StringVar(&r.tokenFile, "relay-token-file", "", "file that holds what \"ahp-canvas relay token\" printed for this host")
	r.admin.flags(cmd)
	must(cmd.MarkFlagFilename("relay-token-file"))
	cmd.MarkFlagsRequiredTogether("relay", "relay-token-file")
}

// load judges the flags and reads the tokens, before anything is started that
// would have to end.
func (r *reach) load() (err error) {
	if err := r.admin.check(); err != nil {
		return err
	}
	if r.relay == "" {
		return nil
	}
	if r.key, err = readRelayKey(r.tokenFile); err != nil {
		return err
	}
	_, err = relay.NewUplink(r.uplink(nil, nil))
	return err
}

// prepare takes the number of this run, which must be on disk before a relay sees it.
func (r *reach) prepare(kept *state) (err error) {
	if r.relay != "" {
		r.generation, err = kept.newGeneration(time.Now())
	}
	return err
}

// notes are what a person is to know of where the tokens go: in clear to a relay that
// is reached without TLS, and into a file that a shell wrote for all to read.
func (r *reach) notes() (notes []string) {
	if r.relay == "" {
		return nil
	}
	if u, err := url.Parse(r.relay); err == nil && u.Scheme == "ws" && !isOurs(u.Hostname()) {
		notes = append(notes, "the way to this relay is not encrypted: unless you trust the network, use wss://")
	}
	if info, err := os.Stat(r.tokenFile); err == nil && !isWindows && info.Mode().Perm()&0o077 != 0 {
		notes = append(notes, fmt.Sprintf("%s holds tokens, and is open to other users: run chmod 600 on it", r.tokenFile))
	}
	return notes
}

// isOurs reports whether a name is this machine's own, so that nothing leaves it.
func isOurs(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || ip != nil && ip.IsLoopback()
}

// link is the page at the relay for this host; "" where there is no relay, or no
// client token to put into it.
func (r *reach) link(session string) string {
	if r.relay == "" || r.key.ClientToken == "" {
		return ""
	}
	u, err := url.Parse(r.relay)
	if err != nil {
		return ""
	}
	u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	return web.Link(u.String(), r.key.ClientToken, session) + "&host=" + url.QueryEscape(r.key.Host)
}

func (r *reach) uplink(h *host.Host, logger *slog.Logger) relay.UplinkOptions {
	return relay.UplinkOptions{
		URL: r.relay, Token: r.key.HostToken, Host: r.key.Host, Generation: r.generation, Logger: logger, Progress: r.progress,
		Serve: func(_ context.Context, socket *ws.Conn, lane relay.LaneInfo) { h.ServeSocket(socket, lane.ClientID) },
	}
}

func (r *reach) progress(p relay.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = p
}

// words is how the relay stands, for the status line.
func (r *reach) words() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch r.state.State {
	case "":
		return ""
	case relay.Lost:
		how := "relay not reached"
		if _, refused := errors.AsType[*ws.HandshakeError](r.state.Err); refused {
			how = "refused by the relay" // which was ours once, or run would have ended
		}
		return fmt.Sprintf(", %s, next try in %s", how, max(r.state.Retry.Round(time.Second), time.Second))
	}
	return ", relay " + string(r.state.State)
}

// run keeps the host registered until ctx is done. A relay that refuses the host
// is an error; a newer run of it elsewhere is none, because this one still serves
// who is near.
func (r *reach) run(ctx context.Context, h *host.Host, logger *slog.Logger) error {
	if r.relay == "" {
		return nil
	}
	u, err := relay.NewUplink(r.uplink(h, logger))
	if err != nil {
		return err
	}
	err = u.Run(ctx)
	if _, refused := errors.AsType[*relay.RefusedError](err); refused {
		return failf(codeRelayRefused, "%s: %v", r.relay, err)
	}
	if errors.Is(err, relay.ErrSuperseded) {
		logger.Warn("this host is not reached through the relay any more: a newer one registered under its name", "host", r.key.Host)
		return nil
	}
	return err
}

// registered is 1 while the relay knows the host.
func (r *reach) metrics() prometheus.Collector {
	return metrics{gauge("relay_registered", "1 while the host is registered with its relay.", func() float64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.state.State == relay.Registered {
			return 1
		}
		return 0
	})}
}

// goOutside starts the admin listener and the uplink. A relay that refuses the
// host ends it through stop. wait returns when both have ended, which the end of
// ctx brings about.
func (r *reach) goOutside(ctx context.Context, stop func(), h *host.Host, logger *slog.Logger) (wait func() error, err error) {
	stopAdmin, err := r.admin.start(logger, hostMetrics(h), r.metrics())
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		err := r.run(ctx, h, logger)
		if err != nil {
			stop()
		}
		ended <- err
	}()
	return func() error {
		defer stopAdmin()
		return <-ended
	}, nil
}
