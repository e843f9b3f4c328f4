package aamcanvas

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// hostOwner is whose tokens are used: a host has one owner.
const hostOwner = "hostOwner"

// The times and limits of an open aam-site.
const (
	keepManifest = 5 * time.Minute
	keepAsk      = 10 * time.Minute
	keepResult   = time.Hour
	siteWait     = 5 * time.Second // how long invoke waits for the site
	maxSites     = 16              // open sites of a session
	maxAsks      = 16              // questions that wait for the person
	maxCalls     = 256             // calls in memory
	maxLog       = 100
)

// SiteOptions lets the session's agent use web sites, in the canvas aam-site.
type SiteOptions struct {
	// Client calls the sites.
	Client *aam.Client
	// Loopback allows sites of this machine.
	Loopback bool
	// KeepAsk is how long a question waits for the person; 10 minutes if zero.
	KeepAsk time.Duration
	// Now is the clock. Nil is time.Now.
	Now func() time.Time
}

// sitesHub counts the open sites, and waits for what they run.
type sitesHub struct {
	opts SiteOptions
	pin  PIN
	ctx  context.Context
	end  context.CancelFunc
	done sync.WaitGroup

	logger *slog.Logger

	mu     sync.Mutex
	opened map[*siteCanvas]struct{}
}

func (b *sitesHub) start(o Options) {
	b.opts, b.pin, b.opened = *o.Sites, o.PIN, map[*siteCanvas]struct{}{}
	if b.opts.KeepAsk == 0 {
		b.opts.KeepAsk = keepAsk
	}
	if b.opts.Now == nil {
		b.opts.Now = time.Now
	}
	b.ctx, b.end = context.WithCancel(context.Background())
}

func (b *sitesHub) stop() {
	b.end()
	b.done.Wait()
}

func (b *sitesHub) logFailure(what string, err error) { b.logger.Error("aam: "+what, "err", err) }

// siteCanvas is an open aam-site.
type siteCanvas struct {
	*view.Pages
	hub    *sitesHub
	client *aam.Client
	h      *canvas.Handle
	at     aam.Site
	keys   sealKeys
	ctx    context.Context
	end    context.CancelFunc

	mu       sync.Mutex
	manifest *aam.Manifest // nil if the site could not be read since the start
	warnings []aam.Warning
	fetched  time.Time
	problem  string
	link     string // where the person signs in
	checkout string // where the person pays, at a hosted checkout
	calls    map[string]*siteCall
	order    []string             // of the calls, the oldest first
	grants   map[string]time.Time // approvals whose call has not run, by digest
	saved    savedSite
	revision int64
}

// savedSite is what a site's canvas keeps over a restart. It has no secrets.
type savedSite struct {
	Always []string  `json:"always,omitzero"` // actions that need no approval
	Log    []siteRow `json:"log,omitzero"`
}

// siteRow is one line of the log.
type siteRow struct {
	Call    string `json:"call"`
	Time    string `json:"time"`
	Action  string `json:"action"`
	Outcome string `json:"outcome"`
	Status  int    `json:"status,omitzero"`
	Amount  string `json:"amount,omitzero"`
}

// siteInput is the input of aam-site.
type siteInput struct {
	Site string `json:"site"`
}

// open opens a site. A site that was open before the host started again opens also if it
// cannot be reached.
func (b *sitesHub) open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	var in siteInput
	if err := ahp.Unmarshal(req.Input, &in); err != nil {
		return canvas.Opened{}, canvas.Errorf(canvas.CodeInputInvalid, "%v", err)
	}
	at, err := aam.ParseSite(in.Site, b.opts.Loopback)
	if err != nil {
		return canvas.Opened{}, toCanvas(err)
	}
	s, isOpen := req.Current.(*siteCanvas)
	if isOpen && s.at != at {
		e := canvas.Errorf(canvas.CodeInputInvalid, "this instance shows %s; open another instance for %s", s.at, at)
		e.Path = "/input/site"
		return canvas.Opened{}, e
	}
	if !isOpen {
		s = b.newSite(h, at)
		if req.Saved != nil && ahp.Unmarshal(req.Saved, &s.saved) != nil {
			s.saved = savedSite{}
		}
	}
	if err := s.discover(ctx, !isOpen); err != nil && req.Saved == nil && !isOpen {
		s.end()
		return canvas.Opened{}, toCanvas(err)
	}
	if !isOpen {
		if err := b.add(s); err != nil {
			return canvas.Opened{}, err
		}
		if err := s.save(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			b.remove(s)
			return canvas.Opened{}, err
		}
	}
	title, status := s.label()
	return canvas.Opened{Instance: s, URL: h.ContentURL("/site.html"), Title: title, Status: status, Links: true}, nil
}

func (b *sitesHub) newSite(h *canvas.Handle, at aam.Site) *siteCanvas {
	s := &siteCanvas{hub: b, client: b.opts.Client, h: h, at: at, calls: map[string]*siteCall{}, grants: map[string]time.Time{}, revision: time.Now().UnixMilli()} // a page outlives a restart
	s.ctx, s.end = context.WithCancel(b.ctx)
	s.Pages = view.New(view.Options{To: h, OnMessage: s.message})
	return s
}

// add counts an open site until its handle ends.
func (b *sitesHub) add(s *siteCanvas) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for other := range b.opened {
		if other.h.Session() == s.h.Session() {
			n++
		}
	}
	if n >= maxSites {
		s.end()
		return canvas.Errorf(canvas.CodeLimitExceeded, "a session has at most %d sites open; close one first", maxSites)
	}
	b.opened[s] = struct{}{}
	context.AfterFunc(s.h.Context(), func() { b.remove(s) })
	return nil
}

// remove ends what a site runs. Questions expire with it, and nothing was sent for them.
func (b *sitesHub) remove(s *siteCanvas) {
	s.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.opened, s)
}

// run starts a goroutine of a site, which ends with it.
func (s *siteCanvas) run(do func(context.Context)) {
	s.hub.done.Go(func() { do(s.ctx) })
}

// discover reads the manifest if the last one is older than 5 minutes, or always.
func (s *siteCanvas) discover(ctx context.Context, always bool) error {
	s.mu.Lock()
	fresh := s.manifest != nil && s.now().Sub(s.fetched) < keepManifest
	s.mu.Unlock()
	if fresh && !always {
		return nil
	}
	m, warnings, err := s.client.Discover(ctx, s.at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.problem = toCanvas(err).Message
		return err
	}
	s.manifest, s.warnings, s.fetched, s.problem = m, warnings, s.now(), ""
	return nil
}

func (s *siteCanvas) now() time.Time { return s.hub.opts.Now() }

// known returns the manifest, which it reads if need be.
func (s *siteCanvas) known(ctx context.Context, refresh bool) (*aam.Manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, siteWait)
	defer cancel()
	err := s.discover(ctx, refresh)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return nil, toCanvas(err)
	}
	return s.manifest, nil
}

// save keeps the log and the standing approvals.
func (s *siteCanvas) save() error {
	s.mu.Lock()
	raw := ahp.MustMarshal(s.saved)
	s.mu.Unlock()
	return s.h.Save(s.h.Context(), raw)
}

// Close implements canvas.Instance.
func (s *siteCanvas) Close(ctx context.Context) error {
	s.hub.remove(s)
	return s.Pages.Close(ctx)
}

// Read serves the page and the manifest.
func (s *siteCanvas) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if req.Path.Name() == "manifest.json" && len(req.Path.Segments) == 1 {
		s.mu.Lock()
		m := s.manifest
		s.mu.Unlock()
		if m == nil {
			return canvas.Content{}, ahp.ErrNotFound
		}
		return canvas.Content{Data: ahp.MustMarshal(m), ContentType: "application/json"}, nil
	}
	return canvas.ReadFile(pageFiles, req)
}

// ViewGone forgets a View's key.
func (s *siteCanvas) ViewGone(from canvas.View) {
	s.Pages.ViewGone(from)
	s.keys.gone(from)
}

// Message handles a View's message. A View that says hello in view/1 is one that may only
// watch; it receives the state too.
func (s *siteCanvas) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	s.Pages.Message(ctx, from, payload)
	var m struct {
		Tag  string    `json:"x-ahp,omitzero"`
		Type string    `json:"type,omitzero"`
		Rest ahp.Value `json:",embed"`
	}
	if ahp.Unmarshal(payload, &m) == nil && m.Tag == "view/1" && m.Type == "hello" {
		s.sendState(from)
	}
}

// toCanvas turns an error of package aam into one for agents.
func toCanvas(err error) *canvas.Error {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*aam.Error](err); ok {
		return &canvas.Error{Code: e.Code, Message: e.Message, Path: e.Path, Rule: e.Rule, Candidates: e.Candidates}
	}
	return canvas.Errorf(canvas.CodeHandlerError, "%v", err)
}
