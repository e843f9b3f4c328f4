package serve

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamcanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// maxAAMConns is the connection limit of the site's listener. Strangers connect to it, so
// it does not count with the host's.
const maxAAMConns = 256

// aamSite is the host as a site, on a separate listener: strangers connect to it, and no
// path of the host is reachable.
type aamSite struct {
	site   *site.Site
	ln     net.Listener
	store  *sqlitestore.Store // nil if nothing is kept
	out    *outbound.Client
	logger *slog.Logger
	notes  []string
	srv    *http.Server
	done   chan struct{}
}

// openAAMSite reads the site's file, and opens its store and listener.
func openAAMSite(h *host.Host, file, dir string, logger *slog.Logger) (_ *aamSite, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, term.Usagef("--aam-site: %v", err)
	}
	c, err := site.ParseConfig(raw)
	if err != nil {
		return nil, term.Usagef("--aam-site %q: %v", file, err)
	}
	if c.Listen == "" {
		return nil, term.Usagef("--aam-site %q: /listen: want an address, as in 127.0.0.1:8788", file)
	}
	s := &aamSite{logger: logger}
	defer func() {
		if err != nil {
			_ = s.close()
		}
	}()
	if s.ln, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, listener.Error(term.CodeNotStarted, "--aam-site", c.Listen, err)
	}
	if !listener.IsLoopback(s.ln.Addr()) && !strings.HasPrefix(c.Origin, "https://") {
		return nil, term.Usagef("--aam-site %q: /listen %q: other machines can reach it, so /origin must be https, with a TLS proxy in front", file, c.Listen)
	}
	var store site.Store
	if dir != "" {
		if s.store, err = sqlitestore.Open(context.Background(), filepath.Join(dir, "site.db"), sqlitestore.Options{Logger: logger}); err != nil {
			return nil, statedir.StoreError(err)
		}
		store = siteStore{s.store}
	}
	s.out = outbound.New(outbound.Options{Loopback: strings.HasPrefix(c.Origin, "http://")})
	s.site, err = site.New(c, aamcanvas.Executor{Canvases: h.Canvases(), Session: host.DefaultSession}, store, site.Options{HTTP: s.out, Proven: web.Proven, Logger: logger})
	if err != nil {
		return nil, term.Usagef("--aam-site %q: %v", file, err)
	}
	s.notes = append(s.notes, "agents of other people find this host at "+c.Origin+site.PathManifest)
	if c.Settle != nil && c.Settle.Later > 0 {
		s.notes = append(s.notes, "payments are signed and not collected at once; run \"ahp-canvas aam settle\" every "+time.Duration(c.Settle.Later).String())
	}
	return s, nil
}

// serve serves the site until stop.
func (s *aamSite) serve(logger *slog.Logger) {
	if s == nil {
		return
	}
	s.srv = &http.Server{
		Handler: web.BodyTimeout(s.site.Handler()), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	(&web.ConnLimiter{Max: maxAAMConns}).Watch(s.srv)
	s.done = make(chan struct{})
	go func() { defer close(s.done); _ = s.srv.Serve(s.ln) }()
}

// stopTimeout is how long calls that run may still take when the host ends.
const stopTimeout = 5 * time.Second

// stop ends the listener, and waits for calls.
func (s *aamSite) stop() {
	if s == nil || s.srv == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if s.srv.Shutdown(ctx) != nil {
		_ = s.srv.Close()
	}
	<-s.done
}

// close ends the site and its store.
func (s *aamSite) close() (err error) {
	if s == nil {
		return nil
	}
	if s.site != nil {
		err = s.site.Close()
	}
	if s.out != nil {
		_ = s.out.Close() // nil
	}
	if s.ln != nil {
		_ = s.ln.Close() // the server has closed it
	}
	if s.store != nil {
		if e := s.store.Close(); e != nil {
			err = e
		}
	}
	if err != nil {
		s.logger.Error("aam: the site's store was not closed", "err", err)
	}
	return err
}

// siteStore keeps a site's records in a separate store: the host's knows nothing of
// them.
type siteStore struct{ *sqlitestore.Store }

// Commit implements site.Store.
func (s siteStore) Commit(ctx context.Context, changes ...site.Change) error {
	all := make([]channels.Change, 0, len(changes))
	for _, c := range changes {
		all = append(all, channels.Change{Key: c.Key, Value: c.Value, Delete: c.Value == nil})
	}
	return s.Store.Commit(ctx, all...)
}
