package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// hosting is what a host is started with.
type hosting struct {
	listen        string
	state         string
	canvases      []string // folders
	origins       []string
	contentOrigin string
	schemes       []string
	logLevel      slog.Level
	carrying      carrying
	crowding      crowding
	reach         *reach // nil where only the listener leads to the host
}

// flags adds the flags of a host.
func (o *hosting) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 is the last one, or a free one")
	f.StringVar(&o.state, "state", "", "folder that keeps sessions, open canvases, tokens and port, or \"memory\" to keep nothing (default: the user's state folder)")
	f.StringArrayVar(&o.canvases, "canvas", nil, "folder to offer as a canvas: with a canvas.json, or just an index.html (repeatable)")
	f.StringArrayVar(&o.origins, "origin", nil, "further address under which people reach the page, as in https://canvas.example (repeatable; links name the first)")
	f.StringVar(&o.contentOrigin, "content-origin", "", "pattern of the origins that canvases get, as in https://*.canvas.example (loopback needs none)")
	f.StringArrayVar(&o.schemes, "allow-scheme", nil, "url scheme that canvases may point to beside the usual ones, as in file (repeatable)")
	must(cmd.MarkFlagDirname("state"))
	must(cmd.MarkFlagDirname("canvas"))
	o.carrying.flags(cmd)
	o.crowding.flags(cmd)
	f.TextVar(&o.logLevel, "log-level", slog.LevelWarn, "the least `level` that is logged to standard error: debug, info, warn or error")
}

// behindTLS reports whether people come by an address that something with TLS has.
func (o *hosting) behindTLS() bool {
	return slices.ContainsFunc(o.origins, func(origin string) bool { return strings.HasPrefix(origin, "https://") })
}

// started is a host with its place among the others.
type started struct {
	host     *host.Host
	ln       net.Listener
	endpoint endpoint
	offers   offers
	carried  carried
	unlist   func() // removes the endpoint file
	kept     *state
	store    channels.Store
	notes    []string
}

// place is where a host is going to be, and who else is there.
type place struct {
	dir, runtimeDir string // of the state, and of endpoint files
	kept            *state
	others          []endpointFile
	ln              net.Listener
	note            string // for the person, or ""
}

// start makes a host that is ready to serve, and lists it for other commands.
// Whoever starts it must serve and end it.
func (a *app) start(o hosting) (_ *started, err error) {
	if err := errors.Join(o.carrying.check(), o.crowding.check()); err != nil {
		return nil, err
	}
	logger := newLogger(a.errs, o.logLevel)
	if o.crowding, err = o.crowding.fit(openFiles(), logger); err != nil {
		return nil, err
	}
	p := place{dir: o.state, runtimeDir: runtimeFolder(a.getenv)}
	if p.dir == "" {
		if p.dir, err = stateFolder(a.getenv); err != nil {
			return nil, err
		}
	}
	if p.kept, err = loadState(p.dir); err != nil {
		return nil, err
	}
	s, err := p.start(o, logger)
	if err != nil {
		p.kept.release()
		return nil, err
	}
	return s, nil
}

func (p *place) start(o hosting, logger *slog.Logger) (_ *started, err error) {
	if p.others, err = running(p.runtimeDir); err != nil {
		return nil, err
	}
	if p.ln, p.note, err = listen(o.listen, p.kept, p.others); err != nil {
		return nil, err
	}
	s := &started{kept: p.kept, ln: p.ln}
	if s.store, err = openStore(p.dir, logger); err != nil {
		return nil, errors.Join(err, p.ln.Close())
	}
	if p.note != "" {
		s.notes = append(s.notes, p.note)
	}
	s.host, err = host.New(host.Options{
		Origins: o.origins, ContentOrigin: o.contentOrigin,
		ViewToken: p.kept.ViewToken, AgentToken: p.kept.AgentToken, Version: buildVersion(),
		AllowSchemes: o.schemes,
		Store:        s.store, Logger: logger,
		MaxConnections: o.crowding.ahp, MaxHTTP: o.crowding.http,
	})
	if err == nil {
		err = s.host.SetAddr(p.ln.Addr())
	}
	if err != nil {
		return nil, errors.Join(storeError(err), p.ln.Close(), s.store.Close())
	}
	if err := s.settle(p, o, logger); err != nil {
		return nil, s.abandon(err)
	}
	return s, nil
}

// settle gives a host what it offers, and lists it.
func (s *started) settle(p *place, o hosting, logger *slog.Logger) (err error) {
	if s.offers, err = offer(s.host.Canvases(), o.canvases); err != nil {
		return err
	}
	if s.carried, err = carry(s.host.Canvases(), o.carrying, p.dir, p.runtimeDir, logger); err != nil {
		return err
	}
	if err := keepPort(p.ln, p.kept, p.others); err != nil {
		return err
	}
	s.endpoint = endpointOf(s.host)
	if !isLoopback(p.ln.Addr()) && !o.behindTLS() {
		s.notes = append(s.notes, "other machines can reach this host, and the way here is not encrypted: unless you trust the network, put TLS in front of it, or go through a relay")
	}
	if o.reach != nil {
		if err := o.reach.prepare(p.kept); err != nil {
			return err
		}
		s.notes = append(s.notes, o.reach.notes()...)
		s.endpoint.Link = cmp.Or(o.reach.link(host.DefaultSession), s.endpoint.Link)
	}
	s.unlist, err = publish(p.runtimeDir, endpointFile{endpoint: s.endpoint, Started: time.Now(), Content: o.carrying.shownIn()})
	return err
}

// abandon ends a host that will not serve after all: it drains at once.
func (s *started) abandon(err error) error {
	err = errors.Join(err, s.host.Close(), s.ln.Close())
	s.offers.close()
	s.carried.close()
	return errors.Join(err, s.store.Close())
}

// end takes the host off the list and lets go what it offered, when it has
// served, and returns once everything is on disk.
func (s *started) end() error {
	s.unlist()
	s.offers.close()
	s.carried.close()
	err := s.store.Close()
	s.kept.release()
	return err
}

func endpointOf(h *host.Host) endpoint {
	at := h.Endpoints()
	view, agent := h.Tokens()
	return endpoint{
		Link: h.Link(host.DefaultSession), Page: at.Page, AHP: at.AHP, MCP: at.MCP,
		ViewToken: view, AgentToken: agent, Session: host.DefaultSession, PID: os.Getpid(),
	}
}

// openAll opens canvases under instance ids that are their own names, so that it
// is idempotent (canvas.md section 9).
func (s *started) openAll(ctx context.Context, canvases []string) error {
	for _, id := range canvases {
		args := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: id, InstanceID: id}
		if _, err := s.host.Canvases().Open(ctx, args); err != nil {
			return err
		}
	}
	return nil
}
