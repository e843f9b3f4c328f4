package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/natsdir"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// server is a relay that is ready to serve.
type server struct {
	ln      net.Listener
	names   names
	watch   []watcher // of tokens
	edge    *relay.Edge
	dir     *natsdir.Directory // nil if this relay is alone
	drain   time.Duration
	page    http.Handler
	limiter *web.ConnLimiter
	cert    *certificate // nil without TLS
	logger  *slog.Logger
}

// onceListener is a listener that the drain and then the server close.
type onceListener struct {
	net.Listener
	close func() error
}

// Close closes the listener once.
func (l onceListener) Close() error { return l.close() }

// watcher rereads what says which tokens are valid, until ctx is canceled.
type watcher interface{ Watch(ctx context.Context) }

func newServer(o options, ln net.Listener, tracer *trace.Tracer, logger *slog.Logger) (_ *server, err error) {
	proxies, err := o.limits.Trusted()
	if err != nil {
		return nil, err
	}
	s := &server{ln: onceListener{ln, sync.OnceValue(ln.Close)}, limiter: &web.ConnLimiter{Max: o.limits.HTTP, Proxies: proxies}, drain: o.fleet.drain, logger: logger}
	tokens, err := s.authorizers(o)
	if err != nil {
		return nil, err
	}
	if s.names, err = newNames(o, ln.Addr()); err != nil {
		return nil, err
	}
	if o.cert != "" {
		s.cert = &certificate{cert: o.cert, key: o.key, logger: logger}
		if err := s.cert.load(); err != nil {
			return nil, err
		}
	}
	hosts, pages := s.names.hosts, s.names.origins
	var directory relay.Directory
	if o.fleet.advertise != "" {
		hosts = append(hosts, o.fleet.advertisedAtHost)
		pages = append(slices.Clone(pages), o.fleet.advertisedOrigin) // the page passes on only requests to its names
		if s.dir, err = o.fleet.directory(logger); err != nil {
			return nil, err
		}
		directory = s.dir
	}
	s.edge = relay.New(relay.EdgeOptions{
		Directory: directory, URL: o.fleet.advertise, Edges: o.fleet.allowed,
		Hosts: hosts, Origins: s.names.origins, QueryToken: s.names.loopback && len(o.origins) == 0, Authorizer: tokens,
		MaxLanes: o.limits.AHP, MaxHosts: o.limits.Hosts, Proxies: proxies, Trace: tracer, Logger: logger,
	})
	s.page, err = web.New(web.Options{AppOrigins: pages, ContentOrigin: o.contentOrigin, App: s.edge})
	if err != nil {
		s.leave()
	}
	return s, err
}

// authorizers returns what accepts tokens: the file's first, because it is silent about
// those that it does not know.
func (s *server) authorizers(o options) (all relay.Authorizers, err error) {
	if o.tokens != "" {
		file, err := relay.NewFileAuthorizer(o.tokens, s.logger)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("--tokens %q does not exist; create it with \"ahp-canvas relay token --tokens %s --host NAME\"", o.tokens, term.ShellWord(o.tokens))
		} else if err != nil {
			return nil, err
		}
		all, s.watch = append(all, file), append(s.watch, file)
	}
	signed, err := o.fleet.signedTokens(s.logger)
	if err != nil {
		return nil, err
	}
	if signed != nil {
		all, s.watch = append(all, signed), append(s.watch, signed)
	}
	return all, nil
}

// leave ends the connection to NATS, after the edge.
func (s *server) leave() {
	if s.dir != nil {
		s.dir.Close()
	}
}

// health returns why a load balancer must not send connections here, or nil.
func (s *server) health() error {
	if s.edge.Stats().Draining {
		return errors.New("draining: this relay is stopping")
	}
	return nil
}

// degraded returns what this relay cannot do, or nil.
func (s *server) degraded() error {
	if s.dir == nil {
		return nil
	}
	return s.dir.Degraded()
}

// run serves, watches the token file and shows the status until ctx is canceled.
func (s *server) run(ctx context.Context, line *term.StatusLine) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// When Watch ends it withdraws all tokens. It ends last, because clients of a relay
	// that stops must not be refused for that reason.
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	defer unwatch()
	for _, w := range s.watch {
		wg.Go(func() { w.Watch(watching) })
	}
	if line != nil {
		wg.Go(func() { followStatus(ctx, line, s.edge) })
	}
	return s.serve(ctx)
}

// serve serves until ctx is canceled, and then drains.
func (s *server) serve(ctx context.Context) error {
	srv := &http.Server{
		Handler: s.page, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	s.limiter.Watch(srv)
	served := make(chan error, 1)
	if s.cert == nil {
		go func() { served <- srv.Serve(s.ln) }()
	} else {
		srv.TLSConfig = &tls.Config{GetCertificate: s.cert.get}
		go func() { served <- srv.ServeTLS(s.ln, "", "") }()
	}
	select {
	case err := <-served:
		return errors.Join(err, s.edge.Close(context.Background()))
	case <-ctx.Done():
	}
	if s.drain > 0 {
		s.logger.Info("draining", "for", s.drain)
		within, cancel := context.WithTimeout(context.Background(), s.drain)
		// Who is turned away here finds no listener, so a balancer asks another edge.
		s.edge.Drain(within, func() { _ = s.ln.Close() })
		cancel()
	}
	draining, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := errors.Join(s.edge.Close(draining), srv.Shutdown(draining), srv.Close())
	<-served
	return err
}

// statusInterval is how often the status line is updated.
const statusInterval = time.Second

// followStatus shows the state of a relay until ctx is canceled.
func followStatus(ctx context.Context, line *term.StatusLine, edge *relay.Edge) {
	defer line.Set("")
	tick := time.NewTicker(statusInterval)
	defer tick.Stop()
	for {
		s := edge.Stats()
		line.Set(fmt.Sprintf("  hosts %d, clients %d, waiting %d", s.Hosts, s.Lanes, s.Waiting))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
