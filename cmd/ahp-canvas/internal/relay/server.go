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
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// server is a relay that is ready to serve.
type server struct {
	ln      net.Listener
	names   names
	tokens  *relay.FileAuthorizer
	edge    *relay.Edge
	page    http.Handler
	limiter *web.ConnLimiter
	cert    *certificate // nil without TLS
	logger  *slog.Logger
}

func newServer(o options, ln net.Listener, logger *slog.Logger) (_ *server, err error) {
	proxies, err := o.limits.Trusted()
	if err != nil {
		return nil, err
	}
	s := &server{ln: ln, limiter: &web.ConnLimiter{Max: o.limits.HTTP, Proxies: proxies}, logger: logger}
	s.tokens, err = relay.NewFileAuthorizer(o.tokens, logger)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("token file %q does not exist; create it with \"ahp-canvas relay token --tokens %s --host NAME\"", o.tokens, term.ShellWord(o.tokens))
	} else if err != nil {
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
	s.edge = relay.New(relay.EdgeOptions{
		Hosts: s.names.hosts, Origins: s.names.origins, QueryToken: s.names.loopback && len(o.origins) == 0, Authorizer: s.tokens,
		MaxLanes: o.limits.AHP, MaxHosts: o.limits.Hosts, Proxies: proxies, Logger: logger,
	})
	s.page, err = web.New(web.Options{AppOrigins: s.names.origins, ContentOrigin: o.contentOrigin, App: s.edge})
	return s, err
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
	wg.Go(func() { s.tokens.Watch(watching) })
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
