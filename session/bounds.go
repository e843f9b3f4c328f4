package session

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// The limits of what clients keep in a session (ahp/PROTOCOL.md section 13.5).
const (
	// MaxTitle is how many code points a title has; longer ones are cut.
	MaxTitle = 512
	// MaxClientEntry is the size of an active client's entry in bytes.
	MaxClientEntry = 1 << 20
	// MaxClientEntries is the size of all active clients of a session in bytes.
	MaxClientEntries = 4 << 20
	// MaxActiveClients is the number of active clients of a session.
	MaxActiveClients = 1024
)

// clean returns an action with its texts as lines of limited length, and whether that
// changed it. It is called without a lock.
func clean(a ahp.Action) (ahp.Action, bool) {
	switch a := a.(type) {
	case TitleChanged:
		line := ahp.Line(a.Title, MaxTitle)
		return TitleChanged{Title: line}, line != a.Title
	case ActiveClientSet:
		name := a.ActiveClient.DisplayName
		if name == nil || len(a.ActiveClient.CanvasProviders) > 0 { // the name of a provider is refused instead
			return a, false
		}
		line := ahp.Line(*name, MaxTitle)
		a.ActiveClient.DisplayName = &line
		return a, line != *name
	}
	return a, false
}

var errClientsFull = fmt.Errorf("the session has %d active clients, which is its limit", MaxActiveClients)

// fits returns an error if an entry of an active client is too large.
func (c *SessionActiveClient) fits() error {
	if n := c.size(); n > MaxClientEntry {
		return fmt.Errorf("the entry of the client has %d bytes, at most %d are allowed", n, MaxClientEntry)
	}
	return nil
}

// admits returns an error if a session cannot have another entry of an active client.
func (s *State) admits(c *SessionActiveClient, memory *budget.Ledger) error {
	clients, size, grows := len(s.ActiveClients)+1, c.size(), c.size()
	for i := range s.ActiveClients {
		if other := &s.ActiveClients[i]; other.ClientID == c.ClientID {
			clients--
			grows -= other.size()
		} else {
			size += other.size()
		}
	}
	switch {
	case clients > MaxActiveClients:
		return errClientsFull
	case size > MaxClientEntries:
		return fmt.Errorf("the active clients of the session would have %d bytes, at most %d are allowed", size, MaxClientEntries)
	case grows > 0 && !memory.Fits(budget.State, int64(grows)):
		return budget.ErrFull
	}
	return nil
}

// perEntry is what an entry takes beside its texts, in bytes.
const perEntry = 256

// size estimates what the entry takes, in bytes.
func (c *SessionActiveClient) size() int {
	n := perEntry + len(c.ClientID) + len(c.Customizations) + len(c.Extra)
	if c.DisplayName != nil {
		n += len(*c.DisplayName)
	}
	for i := range c.Tools {
		n += len(c.Tools[i].Name) + len(c.Tools[i].Extra) + 64
	}
	for i := range c.CanvasProviders {
		d := &c.CanvasProviders[i]
		n += perEntry + len(d.CanvasID) + len(d.DisplayName) + len(d.Description) + len(d.InputSchema) + len(d.Extra) + actionsSize(d.Actions)
	}
	return n
}

func actionsSize(actions []SessionCanvasAction) (n int) {
	for i := range actions {
		a := &actions[i]
		n += 128 + len(a.Name) + len(a.Description) + len(a.InputSchema) + len(a.Extra)
	}
	return n
}

func clientsSize(clients []SessionActiveClient) (n int64) {
	for i := range clients {
		n += int64(clients[i].size())
	}
	return n
}

// stateSize estimates the length of an encoded state, for snapshots.
func stateSize(state channels.State) int {
	s := state.(State)
	n := 1024 + len(s.Title) + int(clientsSize(s.ActiveClients)) + perEntry*len(s.OpenCanvases)
	for i := range s.Canvases {
		d := &s.Canvases[i]
		n += perEntry + len(d.Description) + len(d.InputSchema) + len(d.Extra) + actionsSize(d.Actions)
	}
	return n
}

// sameEntries reports whether two lists of active clients are one: reducers share what
// they do not change.
func sameEntries(a, b []SessionActiveClient) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
