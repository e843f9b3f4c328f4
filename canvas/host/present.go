package host

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// people answers who has a session open.
type people struct {
	log  *channels.Log
	host *Host

	mu      sync.Mutex
	invited []invitedBy // in the last ten minutes
}

// invitedBy is an invitation that a page asked for.
type invitedBy struct {
	clientID string
	at       time.Time
}

// The limits of the invitations that pages ask for, in the time for which one is good. The
// host keeps 64 unused ones in all.
const (
	maxInvitedBy  = 8  // of one client
	maxInvitedAll = 24 // of all clients
)

// invite is the method x-ahp-canvas/invite. Only a person in the session can invite others,
// and to no more rights than a person has.
func (p *people) invite(_ context.Context, from *channels.Subscriber, args canvas.InviteParams) (canvas.InviteResult, error) {
	subscribed := false
	name := ""
	p.log.View(func(tx *channels.ReadTx) {
		subscribed, name = slices.Contains(tx.Subscribers(args.Channel), from), from.Name
	})
	role := cmp.Or(args.Role, RoleView)
	who := canvas.View{Conn: from.ID, ClientID: from.ClientID, Role: from.Role}
	switch {
	case !subscribed:
		return canvas.InviteResult{}, ahp.ErrNotFound
	case role != RoleView && role != RoleRead:
		return canvas.InviteResult{}, ahp.Errorf(ahp.CodeInvalidParams, "/role: want %q or %q", RoleView, RoleRead)
	case !who.Person():
		return canvas.InviteResult{}, canvas.ErrNotAPerson.Wire()
	case !p.mayInvite(from.ClientID):
		return canvas.InviteResult{}, ahp.Errorf(ahp.CodePermissionDenied, "too many invitations in ten minutes: wait until some have ended")
	}
	code, e, err := p.host.keys.store.Create(token.Request{Kind: token.Invitation, Role: role, Name: strings.TrimSpace("invited by " + cmp.Or(name, "a page"))})
	p.host.audit.token(cmp.Or(name, from.Role), "invitation created", e.ID, err)
	if err != nil {
		p.host.logger.Warn("no invitation was made", "err", err)
		return canvas.InviteResult{}, ahp.Errorf(ahp.CodeInternal, "the host could not store the invitation")
	}
	return canvas.InviteResult{Invitation: code, Seconds: int(token.InvitationTime.Seconds())}, nil
}

// mayInvite counts an invitation, unless there are too many.
func (p *people) mayInvite(clientID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, own := p.host.opts.Now(), 0
	p.invited = slices.DeleteFunc(p.invited, func(i invitedBy) bool { return now.Sub(i.at) >= token.InvitationTime })
	for _, i := range p.invited {
		if i.clientID == clientID {
			own++
		}
	}
	if own >= maxInvitedBy || len(p.invited) >= maxInvitedAll {
		return false
	}
	p.invited = append(p.invited, invitedBy{clientID, now})
	return true
}

// Present returns the people who have a session open, the newest connection first.
func (h *Host) Present(session string) []canvas.Person { return (&people{log: h.log}).in(session, 0) }

// ask is the method x-ahp-canvas/people. Only a connection that is subscribed to the
// session learns who else is.
func (p *people) ask(_ context.Context, from *channels.Subscriber, args canvas.PeopleParams) (canvas.PeopleResult, error) {
	subscribed := false
	p.log.View(func(tx *channels.ReadTx) {
		subscribed = slices.Contains(tx.Subscribers(args.Channel), from)
		if subscribed && args.Name != nil {
			from.Name = ahp.Line(*args.Name, canvas.MaxPersonName)
		}
	})
	if !subscribed {
		return canvas.PeopleResult{}, ahp.ErrNotFound
	}
	return canvas.PeopleResult{People: p.in(args.Channel, from.ID), Unstored: p.host.unstored()}, nil
}

// maxPeople is how many people an answer names.
const maxPeople = 100

// in returns the people of a session. you is the connection that asks.
func (p *people) in(session string, you channels.ConnID) []canvas.Person {
	type present struct {
		id channels.ConnID
		canvas.Person
	}
	var all []present
	p.log.View(func(tx *channels.ReadTx) {
		for _, s := range tx.Subscribers(session) {
			if s.Role == RoleView || s.Role == RoleRead {
				all = append(all, present{s.ID, canvas.Person{Name: s.Name, Role: s.Role, You: s.ID == you}})
			}
		}
	})
	slices.SortFunc(all, func(a, b present) int { return cmp.Compare(b.id, a.id) })
	out := make([]canvas.Person, 0, len(all))
	for _, one := range all[:min(len(all), maxPeople)] {
		out = append(out, one.Person)
	}
	return out
}
