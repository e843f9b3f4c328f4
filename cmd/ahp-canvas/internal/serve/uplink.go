package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// uplink makes a host reachable beyond its own listener: through a relay, and at an admin
// listener.
type uplink struct {
	relay, tokenFile string
	edges            []string // patterns of --relay-edges
	role             string   // of clients that show the host no token; roleLink is none
	admin            listener.Admin
	allowed          relay.Edges  // --relay-edges, after load
	key              relaykey.Key // after load
	clear            bool         // also accept connections that are not sealed; the link has no key then
	generation       int64        // of this run, after prepare; 0 before
	sealKey          seal.Key     // after prepare

	refused [len(refusals)]atomic.Uint64 // lanes, by the reasons of refusals

	mu        sync.Mutex
	progress  relay.Progress
	viewToken string // for the link
}

// load checks the flags and reads the tokens, before anything is started.
func (u *uplink) load() (err error) {
	if err := u.admin.Check(); err != nil {
		return err
	}
	if !slices.Contains(relayRoles, u.role) {
		return term.Usagef("--relay-role %q: want link, none, read or view", u.role)
	}
	if u.allowed, err = relay.ParseEdges(u.edges...); err != nil {
		return term.Usagef("--relay-edges: %s", strings.TrimPrefix(err.Error(), "relay: edges "))
	}
	if u.relay == "" {
		return nil
	}
	if u.key, err = relaykey.Read(u.tokenFile); err != nil {
		return term.About("--relay-token-file", err)
	}
	if _, err = relay.NewUplink(u.options(nil, nil)); err != nil {
		return term.Usagef("--relay: %s", strings.TrimPrefix(err.Error(), "relay: "))
	}
	return nil
}

// prepare numbers this run and reads the key of sealed connections, which are on disk before
// a relay or a client sees them, and the view token.
func (u *uplink) prepare(state *statedir.State) (err error) {
	if u.relay == "" {
		return nil
	}
	if u.generation, err = state.NewGeneration(time.Now()); err != nil {
		return err
	}
	u.rotated(state.ViewToken)
	u.sealKey, err = state.SealKey()
	return err
}

// notes warn about tokens that others could read: on the way to a relay without TLS, and in
// a file that other users can open.
func (u *uplink) notes() (notes []string) {
	if u.relay == "" {
		return nil
	}
	if to, err := url.Parse(u.relay); err == nil && to.Scheme == "ws" && !isLocal(to.Hostname()) {
		notes = append(notes, "the connection to this relay is not encrypted; unless you trust the network, use wss://")
	}
	if info, err := os.Stat(u.tokenFile); err == nil && userdir.OpenToOthers(info) {
		notes = append(notes, fmt.Sprintf("%s holds tokens, and other users can read it; run chmod 600 on it", u.tokenFile))
	}
	return notes
}

// isLocal reports whether a host name always means this machine.
func isLocal(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || ip != nil && ip.IsLoopback()
}

// rotated sets the view token of the next links.
func (u *uplink) rotated(viewToken string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.viewToken = viewToken
}

// link returns the link of the host's page at the relay, with everything that a person needs;
// "" without a relay or a client token. With roleLink it has the view token, which opens the
// host: the relay's own token is the relay's to give.
func (u *uplink) link(session string) string {
	link := u.page(session)
	if link == "" || u.role != roleLink {
		return link
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return web.ViewAt(link, u.viewToken)
}

// page returns the address of the host's page at the relay, without a token of the host; ""
// without a relay or a client token.
func (u *uplink) page(session string) string {
	if u.relay == "" || u.key.ClientToken == "" {
		return ""
	}
	to, err := url.Parse(u.relay)
	if err != nil {
		return ""
	}
	to.Scheme = "http" + strings.TrimPrefix(to.Scheme, "ws")
	link := web.Link(to.String(), u.key.ClientToken, session) + "&host=" + url.QueryEscape(u.key.Host)
	if u.clear {
		return link
	}
	return link + "&key=" + u.sealKey.Public().String()
}

func (u *uplink) options(h *host.Host, logger *slog.Logger) relay.UplinkOptions {
	sealing := seal.NewHost(u.sealKey, u.key.Host, u.clear)
	role := u.role
	if role == roleLink {
		role = roleNone
	}
	return relay.UplinkOptions{
		URL: u.relay, Token: u.key.HostToken, Host: u.key.Host, Generation: u.generation, Logger: logger, Progress: u.setProgress, Edges: u.allowed,
		Serve: func(ctx context.Context, socket *ws.Conn, lane relay.LaneInfo) {
			if err := sealing.Accept(ctx, socket, cmp.Or(lane.Person, lane.Subject)); err != nil {
				u.refused[refusal(err)].Add(1)
				logger.Info("refused a connection through the relay", "lane", lane.Lane, "err", err)
				return
			}
			defer func() {
				socket.Wait()
				if err := socket.Err(); ws.CodeOf(err) == ws.CodeSealBroken {
					u.refused[changed].Add(1)
					logger.Warn("a sealed connection through the relay was changed on its way", "lane", lane.Lane, "err", err)
				}
			}()
			h.ServeLane(socket, ws.Grant{Role: role, ClientID: lane.ClientID, Name: strings.TrimSpace("relay " + lane.Person)}, lane.OnDrain)
		},
	}
}

// relayRoles are the values of --relay-role.
var relayRoles = []string{roleLink, roleNone, host.RoleRead, host.RoleView}

const (
	roleNone = "none" // no role of the host's, so it permits nothing
	roleLink = "link" // permits nothing either, and the link has the view token
)

func (u *uplink) setProgress(p relay.Progress) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.progress = p
}

// status describes the relay connection for the status line; "" without a relay.
func (u *uplink) status() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch u.progress.State {
	case "":
		return ""
	case relay.Lost:
		how := "relay unreachable"
		if _, refused := errors.AsType[*ws.HandshakeError](u.progress.Err); refused {
			how = "refused by the relay" // it has accepted this host before: otherwise run has returned
		}
		return fmt.Sprintf(", %s, next attempt in %s", how, max(u.progress.Retry.Round(time.Second), time.Second))
	}
	return ", relay " + string(u.progress.State)
}

// run keeps the host registered until ctx is canceled. It fails if the relay refuses the
// host. It returns nil if a newer run of the host replaces this one at the relay: this one
// still serves clients that reach its listener.
func (u *uplink) run(ctx context.Context, h *host.Host, logger *slog.Logger) error {
	if u.relay == "" {
		return nil
	}
	link, err := relay.NewUplink(u.options(h, logger))
	if err != nil {
		return err
	}
	err = link.Run(ctx)
	if _, refused := errors.AsType[*relay.RefusedError](err); refused {
		return term.Failf(term.CodeRelayRefused, "%s: %v", u.relay, err)
	}
	if errors.Is(err, relay.ErrSuperseded) {
		logger.Warn("the relay no longer forwards to this host: a newer run registered under the same name", "host", u.key.Host)
		return nil
	}
	return err
}

// start starts the admin listener and the uplink. If the relay refuses the host, it calls
// stop. wait returns once both have ended, after ctx is canceled.
func (u *uplink) start(ctx context.Context, stop func(), h *host.Host, tracer *trace.Tracer, logger *slog.Logger) (wait func() error, err error) {
	u.admin.Health = h.Health
	numbers := hostMetrics(h)
	if u.relay != "" {
		numbers = append(numbers, u.metrics()...)
	}
	stopAdmin, err := u.admin.Start(logger, numbers, listener.NewSpans("ahp_canvas_", tracer))
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		err := u.run(ctx, h, logger)
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

// metrics are the numbers of a host that has a relay.
func (u *uplink) metrics() listener.Metrics {
	all := listener.Metrics{listener.Gauge("ahp_canvas_relay_registered", "1 while the host is registered with its relay (--relay).", func() float64 {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.progress.State == relay.Registered {
			return 1
		}
		return 0
	})}
	for i, reason := range refusals {
		all = append(all, listener.LabeledCounter("ahp_canvas_relay_refused_total", "Connections through the relay that were refused, or ended because they were changed on the way, by reason.", "reason", reason, func() float64 {
			return float64(u.refused[i].Load())
		}))
	}
	return all
}

// refusals are the reasons for which a connection through the relay is refused: it is clear,
// its handshake fails, its holder failed too often, or it ends before its handshake does. A
// sealed one ends if anything in it was changed, repeated or left out.
var refusals = [...]string{"clear", "handshake", "rate", "left", "changed"}

const changed = 4 // in refusals

// refusal returns the reason of an error of seal.Host.Accept, by its place in refusals.
func refusal(err error) int {
	switch ce, _ := errors.AsType[*ws.CloseError](err); {
	case ce == nil || ce.Remote:
		return 3
	case ce.Code == ws.CodeSealNeeded:
		return 0
	case ce.Code == ws.CodeSealBroken:
		return 1
	case ce.Code == ws.CodeTryLater:
		return 2
	}
	return 3
}
