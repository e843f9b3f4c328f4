package server

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// connectionMethods are the rows that every host has.
func connectionMethods() []Method {
	return []Method{
		{Info: ahp.Ping.MethodInfo, call: ping},
		{Info: ahp.Initialize.MethodInfo, call: initialize},
		{Info: ahp.Reconnect.MethodInfo, call: reconnect},
		{Info: ahp.Subscribe.MethodInfo, call: subscribe},
		{Info: ahp.Unsubscribe.MethodInfo, call: unsubscribe},
		{Info: ahp.DispatchAction.MethodInfo, call: dispatch},
	}
}

// opensConnection names what may come before the handshake.
func opensConnection(method string) bool {
	return method == ahp.Ping.Name || method == ahp.Initialize.Name || method == ahp.Reconnect.Name
}

func ping(_ context.Context, _ *conn, req *peer.Request) { req.Reply(ahp.None{}) }

// initialize opens the connection (ahp-host.md section 2a): version,
// capabilities, and the initial subscriptions with their snapshots, in one
// transaction with the answer.
func initialize(_ context.Context, c *conn, req *peer.Request) {
	var p ahp.InitializeParams
	if err := c.handshake(ahp.Initialize.MethodInfo, req, &p); err != nil {
		req.Fail(err)
		return
	}
	exact, version, ok := ahp.Negotiate(p.ProtocolVersions)
	if !ok {
		req.Fail(ahp.Errorf(ahp.CodeUnsupportedProtocolVersion, "unsupported protocol version").
			With(ahp.UnsupportedVersionData{SupportedVersions: ahp.SupportedVersions}))
		c.peer.Close(ws.CodePolicy, "unsupported protocol version")
		return
	}
	caps, err := p.Capabilities.Set()
	if err == nil {
		err = c.admit(p.ClientID, len(p.InitialSubscriptions))
	}
	if err != nil {
		req.Fail(err)
		return
	}
	c.open(p.ClientID, version, caps)
	err = c.server.log.Update(func(tx *channels.Tx) error {
		result := ahp.InitializeResult{ProtocolVersion: exact, ServerSeq: tx.Seq(), ServerInfo: c.server.info}
		var snaps []*channels.Snapshot
		for _, uri := range p.InitialSubscriptions {
			if tx.Subscribed(c.sub, uri) {
				continue // listed twice
			}
			// What is not there is left out: the handshake does not fail for it.
			if snap, err := tx.Subscribe(c.sub, uri); err == nil && snap != nil {
				snaps = append(snaps, snap)
			}
		}
		req.ReplyLazy(func() (ahp.Value, error) {
			result.Snapshots = encodeAll(snaps)
			return ahp.Marshal(result)
		})
		return nil
	})
	if err != nil {
		c.abort(req, err)
		return
	}
	c.reachable()
}

// abort answers a handshake that the log refuses, and closes the connection: it
// has a client id already, so no other handshake can follow.
func (c *conn) abort(req *peer.Request, err error) {
	req.Fail(err)
	c.peer.Close(ws.CodeInternal, "the handshake failed")
}

// reachable notes that the handshake's answer is queued: whatever the client is
// sent now comes after it.
func (c *conn) reachable() {
	c.answered.Store(true)
	c.server.tell(c.sub.ClientID)
}

// tell brings Connectivity up to date. An end and a return of one client may be
// told at the same time: whoever is last looks at how things stand then.
func (s *Server) tell(clientID string) {
	if s.connectivity == nil {
		return
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.clients.newest(clientID) == nil {
		s.connectivity.ClientLost(clientID)
	} else {
		s.connectivity.ClientBack(clientID)
	}
}

// reconnect resumes a client on a new connection (ahp-host.md section 2f).
func reconnect(_ context.Context, c *conn, req *peer.Request) {
	var p ahp.ReconnectParams
	if err := c.handshake(ahp.Reconnect.MethodInfo, req, &p); err != nil {
		req.Fail(err)
		return
	}
	if err := c.admit(p.ClientID, len(p.Subscriptions)); err != nil {
		req.Fail(err)
		return
	}
	known, ok := c.server.clients.recall(p.ClientID)
	if !ok || known.version == (ahp.Version{}) {
		req.Fail(ahp.Errorf(ahp.CodeNotFound, "this host does not know the client: initialize instead"))
		return
	}
	c.open(p.ClientID, known.version, known.caps)
	err := c.server.log.Update(func(tx *channels.Tx) error {
		mark := known.bookmark
		if !known.ended { // the connection might have left the log meanwhile
			mark = tx.Bookmark(known.conns[len(known.conns)-1].sub)
		}
		r := tx.Resume(c.sub, mark, p.LastSeenServerSeq, p.Subscriptions)
		replyResumption(req, r)
		return nil
	})
	if err != nil {
		c.abort(req, err)
		return
	}
	c.server.clientGone(p.ClientID, c.server.clientSubscribed(p.ClientID))
	c.reachable()
}

// clientSubscribed asks the log whether any connection of the client still is
// subscribed: what its reconnect did not list, it has left.
func (s *Server) clientSubscribed(clientID string) func(uri string) bool {
	kept := map[string]bool{}
	if cl, ok := s.clients.recall(clientID); ok {
		s.log.View(func(tx *channels.ReadTx) {
			for _, c := range cl.conns {
				for _, uri := range tx.Subscriptions(c.sub) {
					kept[uri] = true
				}
			}
		})
	}
	return func(uri string) bool { return kept[uri] }
}

// handshake checks that a connection is opened once, and reads the params.
func (c *conn) handshake(info ahp.MethodInfo, req *peer.Request, p any) error {
	if c.sub != nil {
		return ahp.Errorf(ahp.CodeInvalidRequest, "%s: the connection is open already", info.Name)
	}
	return decodeParams(info, req.Params, p)
}

// admit checks who the connection may be, and bounds what it subscribes to.
func (c *conn) admit(clientID string, subscriptions int) error {
	if c.tokenClient != "" && c.tokenClient != clientID {
		return ahp.Errorf(ahp.CodePermissionDenied, "the token is not good for this clientId")
	}
	if subscriptions > c.server.maxSubs {
		return ahp.Errorf(ahp.CodeInvalidParams, "more than %d subscriptions", c.server.maxSubs)
	}
	return nil
}

func (c *conn) open(clientID string, version ahp.Version, caps ahp.Capabilities) {
	c.sub = &channels.Subscriber{ID: c.id, ClientID: clientID, Version: version, Caps: caps, Sink: c}
	c.opening.Stop()
	c.opening = nil
	c.peer.SetReadLimit(ws.MessageReadLimit)
	c.server.clients.joined(c)
}

func encodeAll(snaps []*channels.Snapshot) []ahp.Snapshot {
	out := make([]ahp.Snapshot, 0, len(snaps))
	for _, s := range snaps {
		out = append(out, s.Encode())
	}
	return out
}

// snapshotResult has its array even when it is empty.
type snapshotResult struct {
	Type      string         `json:"type"`
	Snapshots []ahp.Snapshot `json:"snapshots"`
}

// replyResumption answers reconnect with one of two variants: each has its arrays
// even when they are empty, and not the other's. The envelopes of a replay are
// encoded already; they are sent as they are and not read again.
func replyResumption(req *peer.Request, r channels.Resumption) {
	if !r.Replay {
		req.ReplyLazy(func() (ahp.Value, error) {
			return ahp.Marshal(snapshotResult{Type: ahp.ReconnectSnapshot, Snapshots: encodeAll(r.Snapshots)})
		})
		return
	}
	missing := ahp.MustMarshal(append([]string{}, r.Missing...))
	size := len(replayHead) + len(replayMissing) + len(missing) + len(replayEnd) + max(0, len(r.Entries)-1)
	for _, e := range r.Entries {
		size += len(e.Envelope())
	}
	req.ReplyJoined(size, func(yield func([]byte) bool) {
		if !yield(replayHead) {
			return
		}
		for i, e := range r.Entries {
			if i > 0 && !yield(comma) || !yield(e.Envelope()) {
				return
			}
		}
		_ = yield(replayMissing) && yield(missing) && yield(replayEnd)
	})
}

// The parts of a replay between what is encoded already.
var (
	replayHead    = []byte(`{"type":"` + ahp.ReconnectReplay + `","actions":[`)
	comma         = []byte(",")
	replayMissing = []byte(`],"missing":`)
	replayEnd     = []byte("}")
)
