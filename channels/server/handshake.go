package server

import (
	"context"
	"iter"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// connectionMethods returns the methods of the connection itself.
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

// opensConnection reports whether a method may come before the handshake.
func opensConnection(method string) bool {
	return method == ahp.Ping.Name || method == ahp.Initialize.Name || method == ahp.Reconnect.Name
}

func ping(_ context.Context, _ *conn, req *peer.Request) { req.Reply(ahp.None{}) }

// initialize opens the connection (ahp/PROTOCOL.md section 2a). The initial
// subscriptions, their snapshots and the answer are one transaction.
func initialize(ctx context.Context, c *conn, req *peer.Request) {
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
	secret, old, err := c.open(ctx, ahp.Initialize.Name, p.ClientID, version, c.dialectCaps(caps), ahp.ResumeSecret(p.Meta), true)
	if err != nil {
		req.Fail(err)
		return
	}
	c.subscribed(len(p.InitialSubscriptions))
	if err := c.subscribeInitially(req, exact, secret, p.InitialSubscriptions); err != nil {
		c.abort(req, err)
		return
	}
	c.opening = nil
	c.answered.Store(true)
	c.server.replace(old, false)
	c.reachable()
}

// subscribeInitially subscribes the connection to the existing channels of uris, and
// queues the answer to initialize.
func (c *conn) subscribeInitially(req *peer.Request, version, secret string, uris []string) error {
	return c.server.log.Update(func(tx *channels.Tx) error {
		result := ahp.InitializeResult{ProtocolVersion: version, ServerSeq: tx.Seq(), ServerInfo: c.server.info, Meta: c.handshakeMeta(secret)}
		var snaps []*channels.Snapshot
		for _, uri := range uris {
			if tx.Subscribed(c.sub, uri) {
				continue // listed twice
			}
			// A channel that does not exist does not fail the handshake.
			if snap, err := tx.Subscribe(c.sub, uri); err == nil && snap != nil {
				snaps = append(snaps, snap)
			}
		}
		result.Snapshots = []ahp.Snapshot{}
		head, tail := aroundSnapshots(ahp.MustMarshal(result))
		replySnapshots(req, head, snaps, tail)
		c.countSubscriptions(&tx.ReadTx)
		return nil
	})
}

// abort refuses a handshake whose transaction failed, and closes the connection: it
// has its client id already, so it cannot repeat the handshake.
func (c *conn) abort(req *peer.Request, err error) {
	req.Fail(err)
	c.peer.Close(ws.CodeInternal, "the handshake failed")
}

// reachable records that the answer to the handshake is queued. Requests to the
// client come after it from now on.
func (c *conn) reachable() {
	c.answered.Store(true)
	c.askToMove()
	c.server.report(c.sub.ClientID)
}

// report notifies Connectivity of a client's current state. It reads the state under
// the mutex, so that the last of several concurrent reports is up to date.
func (s *Server) report(clientID string) {
	if s.connectivity == nil {
		return
	}
	s.reporting.Lock()
	defer s.reporting.Unlock()
	if s.clients.newest(clientID) == nil {
		s.connectivity.ClientLost(clientID)
	} else {
		s.connectivity.ClientBack(clientID)
	}
}

// reconnect resumes a client on a new connection (ahp/PROTOCOL.md section 2f).
func reconnect(ctx context.Context, c *conn, req *peer.Request) {
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
	_, old, err := c.open(ctx, ahp.Reconnect.Name, p.ClientID, known.version, known.caps, ahp.ResumeSecret(p.Meta), false)
	if err != nil {
		req.Fail(err)
		return
	}
	moves := ahp.Moves(p.Meta)
	c.subscribed(len(p.Subscriptions))
	err = c.server.log.Update(func(tx *channels.Tx) error {
		mark := known.bookmark
		if !known.ended {
			newest := known.conns[len(known.conns)-1].sub
			if mark = tx.Bookmark(newest); moves {
				tx.TakeOver(c.sub, newest, p.Subscriptions)
			}
		}
		r := tx.Resume(c.sub, mark, p.LastSeenServerSeq, p.Subscriptions)
		replyResumption(req, &r)
		if moves { // behind the answer, so that a request of the host finds one of the two connections
			c.answered.Store(true)
			for _, o := range old {
				o.leave()
			}
		}
		c.countSubscriptions(&tx.ReadTx)
		return nil
	})
	if err != nil {
		c.abort(req, err)
		return
	}
	c.opening = nil
	c.answered.Store(true)
	c.server.replace(old, moves)
	c.server.clientGone(p.ClientID, c.server.clientSubscribed(p.ClientID))
	c.reachable()
}

// clientSubscribed returns a function that reports whether any connection of the
// client is subscribed to a channel now. The client has left the channels that its
// reconnect did not list.
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

// handshake checks that there was no handshake before, and decodes the params.
func (c *conn) handshake(info ahp.MethodInfo, req *peer.Request, p any) error {
	if c.sub != nil {
		return ahp.Errorf(ahp.CodeInvalidRequest, "%s: the connection is open already", info.Name)
	}
	return decodeParams(info, req.Params, p)
}

// admit checks the client id against the token, and the number of subscriptions.
func (c *conn) admit(clientID string, subscriptions int) error {
	if c.grant.ClientID != "" && c.grant.ClientID != clientID {
		return ahp.Errorf(ahp.CodePermissionDenied, "the token is not good for this clientId")
	}
	if c.server.mayUse != nil && !c.server.mayUse(clientID, c.grant.Token) {
		return errOtherToken
	}
	if subscriptions > c.server.maxSubs {
		return ahp.Errorf(ahp.CodeInvalidParams, "more than %d subscriptions", c.server.maxSubs)
	}
	if !c.server.memory.Fits(budget.Clients, int64(subscriptions)*perSubscription) {
		return errMemory
	}
	return nil
}

// open makes the connection that of a client, and returns the client's resume secret and
// the connections that this one replaces. After an error the handshake can be repeated.
func (c *conn) open(ctx context.Context, method, clientID string, version ahp.Version, caps ahp.Capabilities, shown string, fresh bool) (secret string, old []*conn, err error) {
	c.sub = &channels.Subscriber{
		ID: c.id, ClientID: clientID, Role: c.grant.Role, Rights: c.rights, Token: c.grant.Token,
		Version: version, Caps: caps, Sink: c, Account: c.account,
	}
	secret, old, err = c.server.clients.claimSoon(ctx, c, shown, fresh)
	c.record(method, "", err)
	if err != nil {
		c.sub = nil
		return "", nil, err
	}
	c.opening.timer.Stop()
	c.peer.SetReadLimit(ws.MessageReadLimit)
	return secret, old, nil
}

// snapshotResult has its array even if it is empty.
type snapshotResult struct {
	Type      string         `json:"type"`
	Snapshots []ahp.Snapshot `json:"snapshots"`
}

// replyResumption answers a reconnect with one of the two variants. Each has its own
// arrays, even if they are empty. The envelopes of a replay are already encoded and
// are sent without decoding them.
func replyResumption(req *peer.Request, r *channels.Resumption) {
	if !r.Replay {
		head, tail := aroundSnapshots(ahp.MustMarshal(snapshotResult{Type: ahp.ReconnectSnapshot, Snapshots: []ahp.Snapshot{}}))
		replySnapshots(req, head, r.Snapshots, tail)
		return
	}
	missing := ahp.MustMarshal(append([]string{}, r.Missing...))
	size := len(replayHead) + len(replayMissing) + len(missing) + len(replayEnd) + max(0, len(r.Entries)-1)
	for _, e := range r.Entries {
		size += len(e.Envelope())
	}
	req.ReplyLazyParts([]peer.Held{r}, func() (int, iter.Seq[[]byte]) {
		return size, func(yield func([]byte) bool) {
			if !yield(replayHead) {
				return
			}
			for i, e := range r.Entries {
				if i > 0 && !yield(comma) || !yield(e.Envelope()) {
					return
				}
			}
			_ = yield(replayMissing) && yield(missing) && yield(replayEnd)
		}
	})
}

// The parts of a replay between the encoded envelopes.
var (
	replayHead    = []byte(`{"type":"` + ahp.ReconnectReplay + `","actions":[`)
	comma         = []byte(",")
	replayMissing = []byte(`],"missing":`)
	replayEnd     = []byte("}")
)
