package ahp

import (
	"errors"
	"fmt"
)

// Origin names the dispatch that an envelope answers: the connection's client
// id, and the sequence number that the client gave.
type Origin struct {
	ClientID  string `json:"clientId"`
	ClientSeq int64  `json:"clientSeq"`
}

// ActionEnvelope is the params of the action notification (ahp-host.md 2e).
type ActionEnvelope struct {
	Channel string `json:"channel"`
	Action  Value  `json:"action"`
	// ServerSeq is host-wide and strictly rising; gaps are normal.
	ServerSeq int64 `json:"serverSeq"`
	// Origin is absent, never null, for the host's own actions.
	Origin *Origin `json:"origin,omitzero"`
	// RejectionReason says why the action was refused; then it must not be applied.
	RejectionReason string `json:"rejectionReason,omitzero"`
}

// Snapshot is the state of one channel; later envelopes of that channel have a
// serverSeq above FromSeq.
type Snapshot struct {
	Resource string `json:"resource"`
	State    Value  `json:"state"`
	FromSeq  int64  `json:"fromSeq"`
}

// InitializeParams opens a connection (ahp-host.md 2a).
type InitializeParams struct {
	Channel              string             `json:"channel,omitzero"`
	ProtocolVersions     []string           `json:"protocolVersions"`
	ClientID             string             `json:"clientId"`
	InitialSubscriptions []string           `json:"initialSubscriptions,omitzero"`
	Locale               string             `json:"locale,omitzero"`
	Capabilities         ClientCapabilities `json:"capabilities,omitzero"`
}

// Validate refuses empty ids and versions (checklist rule 5).
func (p InitializeParams) Validate() error {
	if p.ClientID == "" {
		return errors.New("/clientId: must not be empty")
	}
	if len(p.ClientID) > MaxClientID {
		return fmt.Errorf("/clientId: longer than %d bytes", MaxClientID)
	}
	if len(p.ProtocolVersions) == 0 {
		return errors.New("/protocolVersions: must not be empty")
	}
	for i, v := range p.ProtocolVersions {
		if v == "" {
			return fmt.Errorf("/protocolVersions/%d: must be a non-empty string", i)
		}
	}
	return nil
}

// MaxClientID bounds a client id, in bytes.
const MaxClientID = 256

// InitializeResult answers initialize.
type InitializeResult struct {
	ProtocolVersion string      `json:"protocolVersion"`
	ServerSeq       int64       `json:"serverSeq"`
	Snapshots       []Snapshot  `json:"snapshots"`
	ServerInfo      *ServerInfo `json:"serverInfo,omitzero"`
}

// ServerInfo names the host to people (a later protocol's optional member;
// older clients ignore it).
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
	Title   string `json:"title,omitzero"`
}

// ChannelParams is the params of methods that need nothing but their channel.
type ChannelParams struct {
	Channel string `json:"channel"`
}

// PingParams is the params of ping; everything in it is optional.
type PingParams struct {
	Channel string `json:"channel,omitzero"`
}

// ReconnectParams resumes a client on a new connection (ahp-host.md 2f).
type ReconnectParams struct {
	Channel           string   `json:"channel,omitzero"`
	ClientID          string   `json:"clientId"`
	LastSeenServerSeq int64    `json:"lastSeenServerSeq"`
	Subscriptions     []string `json:"subscriptions"`
}

// Validate refuses an empty client id.
func (p ReconnectParams) Validate() error {
	if p.ClientID == "" {
		return errors.New("/clientId: must not be empty")
	}
	return nil
}

// ReconnectResult is either a replay (Actions, Missing) or snapshots, told
// apart by Type.
type ReconnectResult struct {
	Type      string           `json:"type"` // "replay" or "snapshot"
	Actions   []ActionEnvelope `json:"actions,omitzero"`
	Missing   []string         `json:"missing,omitzero"`
	Snapshots []Snapshot       `json:"snapshots,omitzero"`
}

// The two values of ReconnectResult.Type.
const (
	ReconnectReplay   = "replay"
	ReconnectSnapshot = "snapshot"
)

// SubscribeResult carries the snapshot of a stateful channel.
type SubscribeResult struct {
	Snapshot *Snapshot `json:"snapshot,omitzero"`
}

// DispatchActionParams is the params of dispatchAction. Action stays raw: it is
// decoded by the channel's own table.
type DispatchActionParams struct {
	Channel   string `json:"channel"`
	ClientSeq int64  `json:"clientSeq"`
	Action    Value  `json:"action"`
}

// The methods of the connection itself.
var (
	Initialize = NewConnectionMethod[InitializeParams, InitializeResult]("initialize", ClientToHost)
	Ping       = NewConnectionMethod[PingParams, None]("ping", ClientToHost) // is answered at any time, before initialize too
	Reconnect  = NewConnectionMethod[ReconnectParams, ReconnectResult]("reconnect", ClientToHost)
	Subscribe  = NewMethod[ChannelParams, SubscribeResult]("subscribe", ClientToHost) // follow a channel: its snapshot, then its actions

	Unsubscribe    = NewNotification[ChannelParams]("unsubscribe", ClientToHost) // follow a channel no longer
	DispatchAction = NewNotification[DispatchActionParams]("dispatchAction", ClientToHost)

	ActionNotification = NewNotification[ActionEnvelope]("action", HostToClient)
)
