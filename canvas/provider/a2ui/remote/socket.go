package remote

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

const (
	maxTalks  = 64 // conversations with one agent at a time
	maxQueued = 64 // frames that wait for a turn
)

// talk is one conversation at a socket. Its reader puts frames into a queue; a full queue
// stops the reader, and so the agent.
type talk struct {
	conn   *ws.Conn
	frames chan []byte
	done   chan struct{} // closed by the reader, after conn's end
	stop   chan struct{} // closed by end
	once   sync.Once
	used   time.Time // when its last turn began; the Agent's mutex is held
}

func (t *talk) end() {
	t.once.Do(func() { close(t.stop) })
	t.conn.Close(ws.CodeNormal, "")
}

// read is the conversation's reader.
func (t *talk) read() {
	defer close(t.done)
	for {
		b, err := t.conn.ReadMessage()
		if err != nil {
			return
		}
		select {
		case t.frames <- b:
		case <-t.stop:
			return
		}
	}
}

// sendSocket sends a turn as one frame: the parts and the metadata that an A2A message
// would have. The turn ends with a frame that has a state in which the agent waits, with
// the end of the connection, or after Limits.Quiet without a frame. Frames that arrive
// between turns are delivered with the next one.
func (a *Agent) sendSocket(ctx context.Context, t a2ui.Turn, on func(a2ui.Reply)) error {
	c, id, err := a.talk(ctx, t.ContextID)
	if err != nil {
		return err
	}
	frame := ahp.MustMarshal(map[string]any{"contextId": id, "parts": parts(t, true), "metadata": metadata(t)})
	if err := c.conn.WriteBatch([][]byte{frame}); err != nil {
		a.forget(id, c)
		return a.unavailable("the connection was lost")
	}
	on(a2ui.Reply{ContextID: id, State: "working"})
	return a.hear(ctx, c, id, on)
}

// hear delivers frames until the turn has ended.
func (a *Agent) hear(ctx context.Context, c *talk, id string, on func(a2ui.Reply)) error {
	wait, size, answered := time.NewTimer(a.opts.Limits.Silence), int64(0), false
	defer wait.Stop()
	for {
		select {
		case b := <-c.frames:
			if size += int64(len(b)); size > a.opts.Limits.Turn {
				a.forget(id, c)
				return a.tooMuch()
			}
			reply := readFrame(b)
			on(reply)
			if reply.State != "" && reply.State != "submitted" && reply.State != "working" {
				return nil
			}
			answered = true
			wait.Reset(a.opts.Limits.Quiet)
		case <-wait.C:
			if !answered {
				return a2ui.Errorf(a2ui.CodeAgentSilent, "the agent %s sent nothing for %v", a.Name(), a.opts.Limits.Silence)
			}
			on(a2ui.Reply{State: "completed"})
			return nil
		case <-c.done:
			if len(c.frames) > 0 {
				continue
			}
			a.forget(id, c)
			if !answered {
				return a.unavailable("it closed the connection")
			}
			on(a2ui.Reply{State: "interrupted"})
			return nil
		case <-ctx.Done():
			return a.unreachable(ctx, ctx.Err())
		}
	}
}

// readFrame reads a frame: an object with parts, as in A2A, with a text or a state, or
// else A2UI messages in any wrapping.
func readFrame(b []byte) a2ui.Reply {
	var m struct {
		Parts []ahp.Value `json:"parts,omitzero"`
		State string      `json:"state,omitzero"`
		Text  *string     `json:"text,omitzero"`
	}
	var r a2ui.Reply
	v := ahp.Value(b)
	if v.Kind() == '{' && ahp.Unmarshal(b, &m) == nil && (m.Parts != nil || m.State != "" || m.Text != nil) {
		addParts(&r, m.Parts)
		r.State = stateOf(m.State)
		if m.Text != nil {
			r.Text = strings.TrimLeft(r.Text+"\n"+*m.Text, "\n")
		}
		return r
	}
	if !v.IsValid() {
		return a2ui.Reply{Ignored: 1}
	}
	return a2ui.Reply{Parts: []ahp.Value{v}}
}

// talk returns the connection of a conversation, or a new one.
func (a *Agent) talk(ctx context.Context, id string) (*talk, string, error) {
	if c := a.known(id); c != nil {
		return c, id, nil
	}
	if id == "" {
		id = a.opts.NewID()
	}
	o := ws.DialOptions{Token: a.opts.Token, Subprotocols: []string{}, Conn: ws.Options{ReadLimit: a.opts.Limits.Event},
		NetDial: dialer(a.base.Scheme == "ws"), TLS: a.tls()}
	conn, err := ws.Dial(ctx, a.base.String(), o)
	if err != nil {
		if e, ok := handshake(err); ok {
			return nil, "", a.unavailable("it answered with status %d", e.Status)
		}
		return nil, "", a.unreachable(ctx, err)
	}
	c := &talk{conn: conn, frames: make(chan []byte, maxQueued), done: make(chan struct{}), stop: make(chan struct{}), used: time.Now()}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		c.end()
		c.conn.Wait()
		return nil, "", a.unavailable("the host is closing")
	}
	a.sockets[id] = c
	a.readers.Go(func() { c.read(); c.conn.Wait() })
	return c, id, nil
}

// known returns an open conversation. If there are too many, it ends the one that was
// used least recently.
func (a *Agent) known(id string) *talk {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.sockets[id]; c != nil {
		select {
		case <-c.done:
			delete(a.sockets, id)
		default:
			c.used = time.Now()
			return c
		}
	}
	for len(a.sockets) >= maxTalks {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(a.sockets)), func(x, y string) int { return a.sockets[x].used.Compare(a.sockets[y].used) })
		a.sockets[oldest].end()
		delete(a.sockets, oldest)
	}
	return nil
}

// forget ends a conversation.
func (a *Agent) forget(id string, c *talk) {
	c.end()
	a.mu.Lock()
	if a.sockets[id] == c {
		delete(a.sockets, id)
	}
	a.mu.Unlock()
}
