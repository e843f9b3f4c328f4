package host

import (
	"context"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// reinviteAfter is for how long an agent that asks again gets the same invitation, so that
// its questions do not replace the link that the person is about to open.
const reinviteAfter = token.InvitationTime / 2

// invitations has the newest invitation that an agent got for each session.
type invitations struct {
	mu      sync.Mutex
	current map[string]invitation
}

type invitation struct {
	link, id string
	made     time.Time
}

// maxInvited limits the sessions that are remembered; the rest get a new link each time.
const maxInvited = 1024

// People returns how many connections of people look at a session: those whose token has
// the role RoleView or RoleRead.
func (h *Host) People(session string) (n int) {
	h.log.View(func(tx *channels.ReadTx) {
		for _, s := range tx.Subscribers(session) {
			if s.Role == RoleView || s.Role == RoleRead {
				n++
			}
		}
	})
	return n
}

// Invite returns a link to a session that is good once, for ten minutes: the page
// exchanges it for a token of that browser, with a role, which [Host.AccessTokens] lists. It is
// empty while no address is known. name is what people call the invitation.
func (h *Host) Invite(session, role, name string) (string, error) {
	_, link, err := h.invite(session, role, name)
	return link, err
}

// invite is Invite that also returns the invitation.
func (h *Host) invite(session, role, name string) (code, link string, err error) {
	base := h.sites.base()
	if base == "" {
		return "", "", nil
	}
	code, _, err = h.keys.store.Create(token.Request{Kind: token.Invitation, Role: role, Name: name})
	if err != nil {
		return "", "", err
	}
	return code, web.InvitationLink(base, code, session), nil
}

// inviteFor returns the invitation for a session whose page no person has open, for an
// agent to give to the person. It is "" if people look, or none can be made.
func (h *Host) inviteFor(session string) string {
	if h.People(session) > 0 {
		return ""
	}
	return h.invitation(session)
}

// invitation returns an invitation for a session: the newest one if it is good still.
func (h *Host) invitation(session string) string {
	i := &h.invited
	i.mu.Lock()
	defer i.mu.Unlock()
	now := h.opts.Now()
	if last, ok := i.current[session]; ok && now.Sub(last.made) < reinviteAfter && !h.invitationUsed(last.id) {
		return last.link
	}
	base := h.sites.base()
	if base == "" {
		return ""
	}
	code, e, err := h.keys.store.Create(token.Request{Kind: token.Invitation, Role: RoleView, Name: "invited by the agent"})
	if err != nil {
		h.logger.Warn("no invitation was made", "err", err)
		return ""
	}
	if i.current == nil || len(i.current) >= maxInvited {
		i.current = map[string]invitation{}
	}
	link := web.InvitationLink(base, code, session)
	i.current[session] = invitation{link, e.ID, now}
	return link
}

// invitationUsed reports whether an invitation is good no more.
func (h *Host) invitationUsed(id string) bool {
	for _, e := range h.keys.store.List() {
		if e.ID == id {
			return !e.Used.IsZero()
		}
	}
	return true
}

// reused tells the agent that an invitation was opened a second time.
func (h *Host) reused(used *token.UsedError) {
	event := ahp.MustMarshal(struct {
		Type string    `json:"type"`
		Name string    `json:"name"`
		At   time.Time `json:"at"` // of the first use
	}{"people/invitationReused", used.Entry.Name, used.At})
	if err := h.canvases.Raise(DefaultSession, event); err != nil {
		h.logger.Warn("event not raised", "err", err)
	}
}

// expireEvery is how often tokens that have ended lose their connections.
const expireEvery = 15 * time.Second

// expire closes what ended tokens opened, until the host is closed.
func (h *Host) expire(done <-chan struct{}) {
	ticker := time.NewTicker(expireEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-done:
			return
		}
		ended, err := h.keys.store.Expire()
		if err != nil {
			h.logger.Error("expired tokens not removed", "err", err)
		}
		for _, e := range ended {
			h.endToken(e.ID)
		}
		h.sessions.Tidy(context.Background(), func(id string) bool { return h.server.Connection(id) != nil })
	}
}
