package session

import (
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// RootState is the state of the root channel (ahp/PROTOCOL.md section 4).
type RootState struct {
	Agents         []AgentInfo `json:"agents"`                  // agents for which sessions can be created
	ActiveSessions *int64      `json:"activeSessions,omitzero"` // number of sessions
	Terminals      []ahp.Value `json:"terminals,omitzero"`      // this host has none
	Config         *Config     `json:"config,omitzero"`         // this host has none
	Meta           ahp.Value   `json:"_meta,omitzero"`          // passed through
	Extra          ahp.Value   `json:",embed"`                  // unknown members
}

// AgentInfo is an agent for which sessions can be created. A client can offer to create
// a session only if there is one.
type AgentInfo struct {
	Provider    string      `json:"provider"`    // id of the agent
	DisplayName string      `json:"displayName"` // for people
	Description string      `json:"description"` // for people
	Models      []ahp.Value `json:"models"`      // passed through
	Extra       ahp.Value   `json:",embed"`      // unknown members
}

// The actions of the root channel.
type (
	// AgentsChanged replaces the agents.
	AgentsChanged struct {
		// Agents are the new agents.
		Agents []AgentInfo `json:"agents"`
	}
	// ActiveSessionsChanged sets the number of sessions.
	ActiveSessionsChanged struct {
		// ActiveSessions is the new number.
		ActiveSessions int64 `json:"activeSessions"`
	}
	// TerminalsChanged replaces the terminals. This host has none.
	TerminalsChanged struct {
		// Terminals are the new terminals.
		Terminals []ahp.Value `json:"terminals"`
	}
	// RootConfigChanged merges config values, or replaces all of them.
	RootConfigChanged struct {
		// Config are the new values.
		Config map[string]ahp.Value `json:"config"`
		// Replace replaces all values.
		Replace bool `json:"replace,omitzero"`
	}
)

// ActionType returns the tag of each payload.
func (AgentsChanged) ActionType() string         { return "root/agentsChanged" }
func (ActiveSessionsChanged) ActionType() string { return "root/activeSessionsChanged" }
func (TerminalsChanged) ActionType() string      { return "root/terminalsChanged" }
func (RootConfigChanged) ActionType() string     { return "root/configChanged" }

// RootActions is the action table of the root channel.
var RootActions = ahp.NewActionTable(
	ahp.Row[AgentsChanged](ahp.FromHost),
	ahp.Row[ActiveSessionsChanged](ahp.FromHost),
	ahp.Row[TerminalsChanged](ahp.FromHost),
	ahp.Row[RootConfigChanged](fromAnyone),
)

// ReduceRoot applies an action to the root channel's state.
func ReduceRoot(state channels.State, action ahp.Action) (channels.State, channels.Outcome, error) {
	s := state.(RootState)
	switch a := action.(type) {
	case AgentsChanged:
		s.Agents = a.Agents
	case ActiveSessionsChanged:
		s.ActiveSessions = &a.ActiveSessions
	case TerminalsChanged:
		s.Terminals = a.Terminals
	case RootConfigChanged:
		s.Config = s.Config.changed(a.Config, a.Replace)
	}
	return s, channels.Applied, nil
}

// rootKind returns the kind of the root channel, which always exists.
func rootKind() *channels.Kind {
	return &channels.Kind{
		Scheme:  ahp.SchemeRoot,
		Actions: RootActions,
		Reduce:  ReduceRoot,
		Permit: func(tx *channels.ReadTx, d *channels.Dispatch) error {
			state, _ := tx.State(d.Channel)
			if _, ok := d.Action.(RootConfigChanged); ok && state.(RootState).Config == nil {
				return errNoConfig
			}
			return nil
		},
	}
}

var errNoConfig = errors.New("this channel has no config to change")
