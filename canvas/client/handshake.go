package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// handshake makes a new link the client's connection.
type handshake struct {
	c    *Client
	link *link
	uris []string // the channels to follow
	from *link    // the connection from which the client moves; nil is none
}

// run sends reconnect, if the mirror has something to resume from, and otherwise
// initialize. The reader handles the result, before anything that the host sends
// after it.
func (h *handshake) run(ctx context.Context) error {
	h.c.mu.Lock()
	seen, secret := h.c.feed.mirror.seen, h.c.secret
	h.c.mu.Unlock()
	if h.from != nil && seen == 0 {
		return errCannotMove
	}
	opts := &h.c.opts
	if seen > 0 {
		answered := false
		err := h.prove(secret, func(meta map[string]ahp.Value) error {
			return callThen(ctx, h.link, ahp.Reconnect, ahp.ReconnectParams{
				Channel: ahp.RootURI, ClientID: opts.ClientID, LastSeenServerSeq: seen, Subscriptions: nonNil(h.uris), Meta: meta,
			}, func(result ahp.ReconnectResult) error {
				answered = true
				if h.from != nil {
					return h.moved(ctx, result) // the host could call the client all the time
				}
				return h.finish(h.resumed(result))
			})
		})
		if answered || !refused(err) || h.from != nil {
			return err
		}
		opts.Logger.Info("the host cannot resume; initializing", "err", err)
	}
	return h.prove(secret, func(meta map[string]ahp.Value) error {
		return callThen(ctx, h.link, ahp.Initialize, ahp.InitializeParams{
			Channel: ahp.RootURI, ProtocolVersions: opts.Versions, ClientID: opts.ClientID,
			InitialSubscriptions: h.uris, Capabilities: opts.Capabilities, Meta: meta,
		}, func(result ahp.InitializeResult) error { return h.finish(h.initialized(result)) })
	})
}

// prove sends a handshake with the _meta that it needs: the resume secret, and the proof of
// Options.HostToken for the challenge with which the host answers the first attempt.
func (h *handshake) prove(secret string, send func(meta map[string]ahp.Value) error) error {
	opts := &h.c.opts
	base := ahp.ResumeMeta(secret)
	if h.from != nil && base != nil {
		base[ahp.MetaMoved] = ahp.Value("true")
	}
	if opts.HostToken == "" {
		return send(base)
	}
	show := func(shown ahp.ShownToken) error {
		meta := map[string]ahp.Value{ahp.MetaToken: ahp.MustMarshal(shown)}
		maps.Copy(meta, base)
		return send(meta)
	}
	err := show(ahp.ShownToken{})
	var asked struct {
		Code      string `json:"code"`
		Challenge string `json:"challenge"`
	}
	failed, ok := errors.AsType[*ahp.Error](err)
	if !ok || ahp.Unmarshal(failed.Data, &asked) != nil || asked.Code != ahp.CodeProofRequired {
		return err
	}
	sum := sha256.Sum256([]byte(opts.HostToken))
	hash := hex.EncodeToString(sum[:])
	return show(ahp.ShownToken{ID: hash[:16], Proof: ahp.LaneProof(hash, opts.ClientID, asked.Challenge)})
}

// finish restores what the client provides, if the handshake succeeded.
func (h *handshake) finish(err error) error {
	if err == nil {
		h.declareAgain()
		h.c.provided.resumed()
	}
	return err
}

// declareAgain dispatches the declarations that the host has dropped.
func (h *handshake) declareAgain() {
	h.c.mu.Lock()
	dropped := h.c.declarations.dropped(&h.c.feed.mirror)
	h.c.mu.Unlock()
	for uri, action := range dropped {
		if _, err := h.c.DispatchAsync(uri, action); err != nil {
			h.c.opts.Logger.Warn("cannot declare canvases again", "err", err)
		}
	}
}

// nonNil encodes as [] if there are no URIs: the array is required.
func nonNil(uris []string) []string { return append([]string{}, uris...) }

func (h *handshake) initialized(result ahp.InitializeResult) error {
	snapshots, err := decodeSnapshots(result.Snapshots)
	if err != nil {
		return err
	}
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	h.c.secret = cmp.Or(ahp.ResumeSecret(result.Meta), h.c.secret)
	h.c.version, h.c.server = result.ProtocolVersion, result.ServerInfo
	h.c.feed.restart(h.uris, snapshots, result.ServerSeq)
	h.use()
	return nil
}

// moved handles the result of reconnect after everything that the host has published on the
// connection from which the client moves: what was for that connection alone is in no replay.
// Until then the new one waits.
func (h *handshake) moved(ctx context.Context, result ahp.ReconnectResult) error {
	late := time.NewTimer(moveTime)
	defer late.Stop()
	select {
	case <-h.from.moved:
		return h.resumed(result)
	case <-h.from.ended:
		return errors.New("the connection ended before everything on it had arrived")
	case <-late.C:
		return errors.New("not everything on the old connection arrived in time")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resumed handles the result of reconnect: a replay, or snapshots.
func (h *handshake) resumed(result ahp.ReconnectResult) error {
	if result.Type == ahp.ReconnectReplay {
		return h.replayed(result)
	}
	snapshots, err := decodeSnapshots(result.Snapshots)
	if err != nil {
		return err
	}
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	h.c.feed.restart(h.uris, snapshots, 0)
	h.use()
	return nil
}

func (h *handshake) replayed(result ahp.ReconnectResult) error {
	envelopes := make([]envelope, 0, len(result.Actions))
	for _, raw := range result.Actions {
		e, err := decodeEnvelope(raw)
		if err != nil {
			return err
		}
		envelopes = append(envelopes, e)
	}
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if h.from != nil { // which has delivered most of it
		last := h.c.feed.mirror.last
		envelopes = slices.DeleteFunc(envelopes, func(e envelope) bool { return e.ServerSeq <= last })
	}
	if err := h.c.feed.replay(envelopes, result.Missing); err != nil {
		return err
	}
	h.use()
	return nil
}

// use makes the link the client's connection. It unsubscribes from the channels of
// the handshake for which Unsubscribe was called meanwhile. It is called under the
// client's mutex.
func (h *handshake) use() {
	if h.from != nil {
		h.from.left = true
	}
	h.c.link = h.link
	close(h.c.next)
	h.c.next = make(chan struct{})
	h.c.feed.dispatches.release(h.link)
	for _, uri := range h.uris {
		if h.c.feed.mirror.channels[uri] == nil {
			h.link.unsubscribe(uri)
		}
	}
}
