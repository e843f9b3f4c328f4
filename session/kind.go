package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// kind returns the kind of session channels. after is called for every change.
func kind(permit func(*channels.ReadTx, *channels.Dispatch) error, check func(*channels.Subscriber, ahp.Action) error, after func(tx *channels.Tx, uri string, before, now State, a ahp.Action)) *channels.Kind {
	return &channels.Kind{
		Scheme:   ahp.SchemeSession,
		Actions:  Actions,
		NotFound: ahp.ErrSessionNotFound,
		Reduce:   Reduce,
		Check:    check,
		Permit:   permit,
		Clean:    clean,
		PermitUnsubscribed: func(_ *channels.ReadTx, from *channels.Subscriber, _ string) bool {
			return from.Caps.Has(ahp.CapabilityChat) // these clients dispatch before they subscribe
		},
		Size:             stateSize,
		Redact:           redact,
		RedactCapability: ahp.CapabilityCanvas,
		After: func(tx *channels.Tx, uri string, before, now channels.State, a ahp.Action) {
			after(tx, uri, before.(State), now.(State), a)
		},
	}
}

// redact removes the canvases from a state, for clients without the canvas capability
// (the Canvas proposal, #297, Compatibility).
func redact(state channels.State) channels.State {
	s := state.(State)
	s.Canvases, s.OpenCanvases = nil, nil
	return s
}

// permitOwned checks what a role may do only in sessions that its token created
// (ahp/PROTOCOL.md section 14.3), and then calls permit.
func (c *catalog) permitOwned(tx *channels.ReadTx, d *channels.Dispatch) error {
	if name := d.Action.ActionType(); d.From.Rights.Of(name) == access.Own && !c.owns(d.From, d.Channel) {
		return d.From.Rights.Deny(name)
	}
	return permit(tx, d, c.memory)
}

// owns reports whether the token of a connection created a session.
func (c *catalog) owns(from *channels.Subscriber, uri string) bool {
	e := c.sessions[uri]
	return e != nil && e.creator != "" && e.creator == from.Token
}

// mayDispose returns an error if a connection may dispose only of sessions that its token
// created, and this is none. from is nil for the host itself.
func (c *catalog) mayDispose(from *channels.Subscriber, uri string) error {
	if from == nil || from.Rights.Of(DisposeSession.Name) != access.Own || c.owns(from, uri) {
		return nil
	}
	return from.Rights.Deny(DisposeSession.Name)
}

// permit checks a client's action against the rules of ahp/PROTOCOL.md section 3c: a
// client changes only its own entry, and only config values that the schema allows.
func permit(tx *channels.ReadTx, d *channels.Dispatch, memory *budget.Ledger) error {
	switch a := d.Action.(type) {
	case ActiveClientSet:
		if err := ownEntry(d, a.ActiveClient.ClientID); err != nil {
			return err
		}
		state, _ := tx.State(d.Channel)
		now := state.(State)
		return now.admits(&a.ActiveClient, memory)
	case ActiveClientRemoved:
		if a.ClientID == "" { // null in the older spelling: the sender's own entry
			d.Replace(ActiveClientRemoved{ClientID: d.From.ClientID})
			return nil
		}
		return ownEntry(d, a.ClientID)
	case ConfigChanged:
		state, _ := tx.State(d.Channel)
		return state.(State).Config.permits(a)
	}
	return nil
}

func ownEntry(d *channels.Dispatch, clientID string) error {
	if clientID != d.From.ClientID {
		return errors.New("a client may only set or remove its own entry")
	}
	return nil
}

// permits returns an error if an action changes a property whose schema does not have
// sessionMutable: true. A replacement also changes the values that it omits.
func (c *Config) permits(a ConfigChanged) error {
	if c == nil {
		return errNoConfig
	}
	var schema struct {
		Properties map[string]ahp.Value `json:"properties,omitzero"`
	}
	if err := ahp.Unmarshal(c.Schema, &schema); err != nil {
		return fmt.Errorf("the config's schema cannot be read: %w", err)
	}
	for _, name := range c.touched(a) {
		var property struct {
			SessionMutable bool `json:"sessionMutable,omitzero"`
		}
		raw, ok := schema.Properties[name]
		if !ok || ahp.Unmarshal(raw, &property) != nil || !property.SessionMutable {
			return fmt.Errorf("config value %q may not be changed in a session", name)
		}
	}
	return nil
}

// touched returns the names of the values that an action sets or removes, sorted. A
// replacement does not touch a value that it repeats, which is its only way to keep it.
func (c *Config) touched(a ConfigChanged) []string {
	names := map[string]bool{}
	for name, v := range a.Config {
		names[name] = !a.Replace || !ahp.Equal(v, c.Values[name])
	}
	if a.Replace {
		for name := range c.Values {
			if _, kept := a.Config[name]; !kept {
				names[name] = true
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, touched bool) bool { return !touched })
	return slices.Sorted(maps.Keys(names))
}
