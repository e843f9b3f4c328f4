package aapcanvas

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

const (
	maxWork         = 50_000                 // pages that wait, at most
	maxOwn          = 12                     // canvases that are open because the provider opened them
	refreshInterval = 500 * time.Millisecond // between states of a list
	openTimeout     = 35 * time.Second       // above the host's own
)

// work is what the provider's goroutine does next.
type work struct {
	pages []pageKey // that changed
	opens []opening // that a person asked for
	lists bool      // lists need a new state
}

// opening is a page that a person wants to see.
type opening struct {
	session string
	key     pageKey
}

// enqueue has a changed page looked at.
func (p *Provider) enqueue(key pageKey) {
	p.mu.Lock()
	if len(p.work.pages) < maxWork && !slices.Contains(p.work.pages, key) {
		p.work.pages = append(p.work.pages, key)
	}
	p.mu.Unlock()
	p.wake()
}

// request has a page opened for a person.
func (p *Provider) request(o opening) {
	p.mu.Lock()
	if len(p.work.opens) < 64 && !slices.Contains(p.work.opens, o) {
		p.work.opens = append(p.work.opens, o)
	}
	p.mu.Unlock()
	p.wake()
}

// refreshLists has all lists send a new state.
func (p *Provider) refreshLists() {
	p.mu.Lock()
	p.work.lists = len(p.lists) > 0
	p.mu.Unlock()
	p.wake()
}

func (p *Provider) wake() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// run does the work until Close. Lists get at most two states a second.
func (p *Provider) run() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	waiting := false // for the end of the pause, after which lists are refreshed
	for {
		select {
		case <-p.kick:
		case <-pause.C:
			waiting = false
		case <-p.ctx.Done():
			return
		}
		p.mu.Lock()
		w := p.work
		p.work = work{lists: w.lists && waiting}
		p.mu.Unlock()
		for _, key := range w.pages {
			p.pageChanged(key)
		}
		for _, o := range w.opens {
			p.open(o.session, o.key)
		}
		if w.lists && !waiting {
			p.sendStates()
			waiting = true
			pause.Reset(refreshInterval)
		}
	}
}

// pageChanged updates what people see of a page that changed, or opens it.
func (p *Provider) pageChanged(key pageKey) {
	html, info, err := p.store.Page(key.agent, key.file)
	p.tell(key, changed(info, err))
	shown := p.showing(key)
	for _, i := range shown {
		agent, file := i.shown()
		i.mu.Lock()
		title := i.title
		i.mu.Unlock()
		u := canvas.Update{Status: ahp.Set(p.statusOf(agent, file, err == nil))}
		if err == nil {
			u.Title = ahp.Set(titleOf(title, html, file))
		}
		_ = i.h.Update(i.h.Context(), u) // the canvas was closed meanwhile
	}
	if err != nil || !p.mayOpen(key) {
		return
	}
	p.mu.Lock()
	p.own[instanceID(key)] = true
	p.mu.Unlock()
	if !p.open(p.opts.Session, key) {
		p.mu.Lock()
		delete(p.own, instanceID(key))
		p.mu.Unlock()
	}
}

// mayOpen reports whether a page that changed is opened automatically. If not, lists mark
// it as new.
func (p *Provider) mayOpen(key pageKey) bool {
	inSession := false
	shown := p.showing(key)
	for _, i := range shown {
		inSession = inSession || i.h.Session() == p.opts.Session
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if inSession {
		return false
	}
	if p.opts.Changed && p.opts.Open != nil && !p.shut[key] && len(p.own) < maxOwn {
		return true
	}
	if len(shown) == 0 && len(p.fresh) < maxWork {
		p.fresh[key] = true
		p.work.lists = len(p.lists) > 0
		p.wake()
	}
	return false
}

// open opens a page in a session.
func (p *Provider) open(session string, key pageKey) bool {
	if p.opts.Open == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(p.ctx, openTimeout)
	defer cancel()
	_, err := p.opts.Open(ctx, canvas.OpenArgs{
		Session: session, ExtensionID: ExtensionID, CanvasID: PageID, InstanceID: instanceID(key),
		Input: ahp.MustMarshal(pageInput{File: key.file, Agent: key.agent}),
	})
	if err != nil && p.ctx.Err() == nil {
		p.logger.Warn("aap: a page could not be opened")
	}
	return err == nil
}

// instanceID returns the id under which the provider opens a page.
func instanceID(key pageKey) string {
	id := "aap." + key.agent + "." + key.file
	id = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
			return c
		}
		return '-'
	}, id)
	sum := sha256.Sum256([]byte(key.agent + "\x00" + key.file))
	return id[:min(len(id), 100)] + "-" + hex.EncodeToString(sum[:4])
}

// pathOf returns the content path of a page. A path has no question mark, and the root is
// the page too.
func pathOf(file string) string {
	if strings.Contains(file, "?") {
		return "/"
	}
	return "/" + file
}
