package main

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
)

// relayServer is a relay that is ready to serve.
type relayServer struct {
	ln     net.Listener
	at     relayAddresses
	tokens *relay.FileAuthorizer
	edge   *relay.Edge
	page   http.Handler
	crowd  *web.ConnLimiter
	cert   *certificate // nil without TLS
	logger *slog.Logger
}

// server makes a relay of what it is started with.
func (o relaying) server(ln net.Listener, logger *slog.Logger) (_ *relayServer, err error) {
	s := &relayServer{ln: ln, crowd: &web.ConnLimiter{Max: o.crowding.http}, logger: logger}
	s.tokens, err = relay.NewFileAuthorizer(o.tokens, logger)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file: ahp-canvas relay token --tokens %s --host NAME makes it", o.tokens, o.tokens)
	} else if err != nil {
		return nil, err
	}
	if s.at, err = o.addresses(ln.Addr()); err != nil {
		return nil, err
	}
	if o.cert != "" {
		s.cert = &certificate{cert: o.cert, key: o.key, logger: logger}
		if err := s.cert.load(); err != nil {
			return nil, err
		}
	}
	s.edge = relay.New(relay.EdgeOptions{
		Hosts: s.at.hosts, Origins: s.at.origins, QueryToken: s.at.loopback && len(o.origins) == 0, Authorizer: s.tokens,
		MaxLanes: o.crowding.ahp, MaxHosts: o.crowding.hosts, Logger: logger,
	})
	s.page, err = web.New(web.Options{AppOrigins: s.at.origins, ContentOrigin: o.contentOrigin, App: s.edge})
	return s, err
}

// run serves until ctx is done, with what goes on beside it.
func (s *relayServer) run(ctx context.Context, line *statusLine) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// The end of Watch withdraws all tokens, which nobody is to be told of a relay
	// that stops: so it comes last.
	watched, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	defer unwatch()
	wg.Go(func() { s.tokens.Watch(watched) })
	if line != nil {
		wg.Go(func() { line.followEdge(ctx, s.edge) })
	}
	return s.serve(ctx)
}

// serve serves until ctx is done and then drains.
func (s *relayServer) serve(ctx context.Context) error {
	srv := &http.Server{
		Handler: s.page, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	s.crowd.Watch(srv)
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
	within, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := errors.Join(s.edge.Close(within), srv.Shutdown(within), srv.Close())
	<-served
	return err
}
