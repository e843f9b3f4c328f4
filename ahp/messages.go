package ahp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Origin identifies the dispatch that an envelope answers.
type Origin struct {
	// ClientID is the client of the connection that dispatched.
	ClientID string `json:"clientId"`
	// ClientSeq is the sequence number that the client chose.
	ClientSeq int64 `json:"clientSeq"`
}

// ActionEnvelope is the params of the action notification (ahp/PROTOCOL.md
// section 2e).
type ActionEnvelope struct {
	// Channel is the URI of the channel whose state the action changes.
	Channel string `json:"channel"`
	// Action is the action, with its type tag.
	Action Value `json:"action"`
	// ServerSeq is the sequence number. It rises across all channels of the host,
	// with gaps.
	ServerSeq int64 `json:"serverSeq"`
	// Origin is absent, never null, for the host's own actions.
	Origin *Origin `json:"origin,omitzero"`
	// RejectionReason says why the host rejected the action. A rejected action must
	// not be applied.
	RejectionReason string `json:"rejectionReason,omitzero"`
}

// Snapshot is the state of one channel.
type Snapshot struct {
	// Resource is the channel's URI.
	Resource string `json:"resource"`
	// State is the channel's state.
	State Value `json:"state"`
	// FromSeq is the sequence number of the state. Later envelopes of the channel have
	// higher ones.
	FromSeq int64 `json:"fromSeq"`
}

// InitializeParams is the params of initialize (ahp/PROTOCOL.md section 2a).
type InitializeParams struct {
	// Channel is the root channel or absent.
	Channel string `json:"channel,omitzero"`
	// ProtocolVersions are the versions that the client speaks.
	ProtocolVersions []string `json:"protocolVersions"`
	// ClientID identifies the client across its connections.
	ClientID string `json:"clientId"`
	// InitialSubscriptions are channels to subscribe to at once.
	InitialSubscriptions []string `json:"initialSubscriptions,omitzero"`
	// Locale is the client's language. This host ignores it.
	Locale string `json:"locale,omitzero"`
	// Capabilities are the optional parts of the protocol that the client knows.
	Capabilities ClientCapabilities `json:"capabilities,omitzero"`
	// Meta has extensions; see [MetaResume].
	Meta map[string]Value `json:"_meta,omitzero"`
}

// Validate rejects empty and overlong ids and empty versions.
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

// MaxClientID is the most bytes that a client id may have.
const MaxClientID = 256

// InitializeResult is the result of initialize.
type InitializeResult struct {
	// ProtocolVersion is the version that the host chose, as the client offered it.
	ProtocolVersion string `json:"protocolVersion"`
	// ServerSeq is the newest sequence number of the host.
	ServerSeq int64 `json:"serverSeq"`
	// Snapshots are those of the initial subscriptions whose channels exist.
	Snapshots []Snapshot `json:"snapshots"`
	// ServerInfo describes the host. It is a member of a later protocol version, which
	// older clients ignore.
	ServerInfo *ServerInfo `json:"serverInfo,omitzero"`
	// Meta has extensions; see [MetaResume].
	Meta map[string]Value `json:"_meta,omitzero"`
}

// MetaResume is the member of _meta that holds the resume secret of a client: a text in
// the result of initialize, which the client repeats in its later initialize and reconnect
// (ahp/PROTOCOL.md section 2g).
const MetaResume = "x-ahp-canvas/resume"

// ResumeSecret returns the resume secret in a _meta, or "".
func ResumeSecret(meta map[string]Value) string {
	var secret string
	if raw, ok := meta[MetaResume]; !ok || Unmarshal(raw, &secret) != nil {
		return ""
	}
	return secret
}

// MetaToken is the member of _meta with which a client shows a token of the host, on a
// connection that was not opened with one: a [ShownToken]. In the result of initialize it is
// the token for which an invitation was exchanged (ahp/PROTOCOL.md section 14.5).
const MetaToken = "x-ahp-canvas/token"

// CodeProofRequired is the code in the data of the error that answers a ShownToken without a
// proof. The data also has the challenge.
const CodeProofRequired = "proof_required"

// ShownToken is what a client shows of a token.
type ShownToken struct {
	// ID is the first 16 hex digits of the token's SHA-256.
	ID string `json:"id,omitzero"`
	// Proof is what [LaneProof] returns for the host's challenge.
	Proof string `json:"proof,omitzero"`
	// Invitation is shown instead of a token, which the host exchanges it for.
	Invitation string `json:"invitation,omitzero"`
}

// LaneProof returns the proof of a token in hex, which discloses nothing to a relay: the
// HMAC-SHA256 of "ahp-canvas lane\n" clientID "\n" challenge. The key is the token's SHA-256
// in hex, which is all that a host keeps.
func LaneProof(hash, clientID, challenge string) string {
	mac := hmac.New(sha256.New, []byte(hash))
	mac.Write([]byte("ahp-canvas lane\n" + clientID + "\n" + challenge))
	return hex.EncodeToString(mac.Sum(nil))
}

// Shown returns the token that a _meta shows.
func Shown(meta map[string]Value) (shown ShownToken, ok bool) {
	raw, ok := meta[MetaToken]
	return shown, ok && Unmarshal(raw, &shown) == nil
}

// ResumeMeta returns the _meta with a resume secret, or nil if there is none.
func ResumeMeta(secret string) map[string]Value {
	if secret == "" {
		return nil
	}
	return map[string]Value{MetaResume: MustMarshal(secret)}
}

// ServerInfo describes the host to people.
type ServerInfo struct {
	// Name is the program's name.
	Name string `json:"name"`
	// Version is the program's version.
	Version string `json:"version,omitzero"`
	// Title is a name to display.
	Title string `json:"title,omitzero"`
}

// ChannelParams is the params of methods that need only their channel.
type ChannelParams struct {
	// Channel is the channel's URI.
	Channel string `json:"channel"`
}

// PingParams is the params of ping.
type PingParams struct {
	// Channel is the root channel or absent.
	Channel string `json:"channel,omitzero"`
}

// ReconnectParams is the params of reconnect, which resumes a client on a new
// connection (ahp/PROTOCOL.md section 2f).
type ReconnectParams struct {
	// Channel is the root channel or absent.
	Channel string `json:"channel,omitzero"`
	// ClientID is the client to resume.
	ClientID string `json:"clientId"`
	// LastSeenServerSeq is the highest sequence number that the client has received.
	LastSeenServerSeq int64 `json:"lastSeenServerSeq"`
	// Subscriptions are the channels that the client still wants.
	Subscriptions []string `json:"subscriptions"`
	// Meta has extensions; see [MetaResume].
	Meta map[string]Value `json:"_meta,omitzero"`
}

// Validate rejects an empty client id.
func (p ReconnectParams) Validate() error {
	if p.ClientID == "" {
		return errors.New("/clientId: must not be empty")
	}
	return nil
}

// ReconnectResult is a replay or a list of snapshots.
type ReconnectResult struct {
	// Type is "replay" or "snapshot".
	Type string `json:"type"`
	// Actions are the missed envelopes of a replay, in their order.
	Actions []ActionEnvelope `json:"actions,omitzero"`
	// Missing are the channels of a replay that do not exist any more.
	Missing []string `json:"missing,omitzero"`
	// Snapshots are those of the channels that exist, if there is no replay.
	Snapshots []Snapshot `json:"snapshots,omitzero"`
}

// The values of ReconnectResult.Type.
const (
	ReconnectReplay   = "replay"
	ReconnectSnapshot = "snapshot"
)

// SubscribeResult is the result of subscribe.
type SubscribeResult struct {
	// Snapshot is the channel's state. It is absent for a channel without state.
	Snapshot *Snapshot `json:"snapshot,omitzero"`
}

// DispatchActionParams is the params of dispatchAction.
type DispatchActionParams struct {
	// Channel is the channel whose state the action changes.
	Channel string `json:"channel"`
	// ClientSeq is a number of the client's choice, which the origin of the envelope
	// repeats.
	ClientSeq int64 `json:"clientSeq"`
	// Action is the action, with its type tag.
	Action Value `json:"action"`
}

// The methods of a connection and its subscriptions.
var (
	// Initialize opens a connection.
	Initialize = NewConnectionMethod[InitializeParams, InitializeResult]("initialize", ClientToHost)
	// Ping is answered at any time, even before initialize.
	Ping = NewConnectionMethod[PingParams, None]("ping", ClientToHost)
	// Reconnect resumes a client on a new connection.
	Reconnect = NewConnectionMethod[ReconnectParams, ReconnectResult]("reconnect", ClientToHost)
	// Subscribe returns a channel's snapshot and starts its envelopes.
	Subscribe = NewMethod[ChannelParams, SubscribeResult]("subscribe", ClientToHost)

	// Unsubscribe ends a channel's envelopes.
	Unsubscribe = NewNotification[ChannelParams]("unsubscribe", ClientToHost)
	// DispatchAction asks the host to apply an action.
	DispatchAction = NewNotification[DispatchActionParams]("dispatchAction", ClientToHost)

	// ActionNotification delivers an action that the host has applied or rejected.
	ActionNotification = NewNotification[ActionEnvelope]("action", HostToClient)
	// Moved follows everything that the host has published on a connection from which its
	// client has moved.
	Moved = NewNotification[ChannelParams]("x-ahp-canvas/moved", HostToClient)
)
