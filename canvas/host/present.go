package host

import (
	"cmp"
	"context"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// people answers who has a session open.
type people struct{ log *channels.Log }

// Present returns the people who have a session open, the newest connection first.
func (h *Host) Present(session string) []canvas.Person { return (&people{h.log}).in(session, 0) }

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
	return canvas.PeopleResult{People: p.in(args.Channel, from.ID)}, nil
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
