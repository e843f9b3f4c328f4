package conform

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/testcases/demo"
)

// standIn provides the demo extensions for a host that does not have them, as
// two clients of the case's session. Frames about these clients are rewritten
// as if they were extensions of the host (see [namespace.asServer]).
type standIn struct {
	session string        // the case's default session
	timeout time.Duration // limits each request of the clients
	clients map[string]*client.Client

	mu  sync.Mutex
	raw map[string]net.Conn // the current connection of each client
}

// extensions lists the demo extensions.
var extensions = []struct {
	id, name string
	set      []canvas.Declaration
}{
	{"demo", "Demo", []canvas.Declaration{demo.Declaration}},
	{"other", "Other", demo.Others},
}

// newStandIn connects the clients and declares both extensions in the case's
// default session.
func newStandIn(ctx context.Context, e *env) (*standIn, error) {
	s := &standIn{
		session: e.ns.session("default"), timeout: e.opts.Timeout, clients: map[string]*client.Client{}, raw: map[string]net.Conn{},
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for _, x := range extensions {
		c, err := client.Dial(ctx, e.opts.URL, client.Options{
			ClientID: e.ns.prefix + x.id, Token: e.opts.Token, Versions: []string{e.ns.offer()},
			NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.raw[x.id] = conn
				return conn, err
			},
		})
		if err != nil {
			s.leave()
			return nil, fmt.Errorf("stand-in for the extension %q: %w", x.id, err)
		}
		s.clients[x.id] = c
		if err := c.Provide(ctx, s.session, x.name, demo.Provider{}, x.set...); err != nil {
			s.leave()
			return nil, fmt.Errorf("stand-in for the extension %q: %w", x.id, err)
		}
	}
	return s, nil
}

// leave disconnects the clients.
func (s *standIn) leave() {
	for _, c := range s.clients {
		c.Close()
	}
}

// host performs a host step on the stand-in: "gone" cuts an extension's connection,
// and "back" reconnects it.
func (s *standIn) host(ctx context.Context, what string) error {
	word, id, _ := strings.Cut(what, " ")
	c := s.clients[id]
	switch {
	case c != nil && word == "gone":
		s.mu.Lock()
		_ = s.raw[id].Close()
		s.mu.Unlock()
		<-c.Disconnected()
		s.awaitCut(ctx, c)
		return nil
	case c != nil && word == "back":
		ctx, cancel := context.WithTimeout(ctx, s.timeout)
		defer cancel()
		return c.Reconnect(ctx)
	}
	return fmt.Errorf("cannot perform host step %q from outside the host", what)
}

// attend subscribes the client that provides an instance to its channel, as it does itself
// after it has answered the host. Until then a host refuses the messages of Views, which an
// extension inside the host would receive at once.
func (s *standIn) attend(ctx context.Context, opened ahp.Value) {
	at := read[struct {
		Channel     string `json:"channel,omitzero"`
		ExtensionID string `json:"extensionId,omitzero"`
	}](opened)
	for _, c := range s.clients {
		if at.ExtensionID == "client:"+c.ID() {
			_, _ = c.Subscribe(ctx, at.Channel) // the case decides what a failure means
		}
	}
}

// cutTimeout limits how long the runner waits for the host to notice a cut
// connection.
const cutTimeout = 2 * time.Second

// awaitCut waits until the host has noticed that a stand-in's connection was
// cut, which it reports to the other stand-in. The case continues on other
// connections, whose order relative to this one is not defined. If the host
// reports nothing in time, the case continues and decides.
func (s *standIn) awaitCut(ctx context.Context, cut *client.Client) {
	ctx, cancel := context.WithTimeout(ctx, cutTimeout)
	defer cancel()
	for _, c := range s.clients {
		if c == cut || c.Err() != nil {
			continue
		}
		w := c.Watch(s.session)
		defer w.Close()
		for ev, err := range w.All(ctx) {
			state, ok := ev.State.(session.State)
			if err != nil || ok && !ready(state, cut) {
				return
			}
		}
	}
}

// ready reports whether the client has a canvas that is ready.
func ready(s session.State, of *client.Client) bool {
	return slices.ContainsFunc(s.OpenCanvases, func(r session.OpenCanvasRef) bool {
		return r.ExtensionID == "client:"+of.ID() && r.Availability == session.Ready
	})
}

// asServer rewrites a frame as if the stand-in's clients were extensions of the
// host. It returns false for frames that concern only these clients.
func (n *namespace) asServer(frame []byte) ([]byte, bool) {
	names := func(id string) bool { return bytes.Contains(frame, []byte(n.prefix+id)) }
	if !(n.standIn && (names("demo") || names("other"))) && !(n.hand && names(hand)) {
		return frame, true
	}
	action := read[struct {
		Method string `json:"method,omitzero"`
		Params struct {
			Action struct {
				Type         string `json:"type,omitzero"`
				ClientID     string `json:"clientId,omitzero"`
				ActiveClient struct {
					ClientID string `json:"clientId,omitzero"`
				} `json:"activeClient,omitzero"`
			} `json:"action,omitzero"`
		} `json:"params,omitzero"`
	}](frame)
	if a := action.Params.Action; strings.HasPrefix(a.Type, "session/activeClient") && (n.isStandIn(a.ClientID) || n.isStandIn(a.ActiveClient.ClientID)) {
		return nil, false
	}
	frame = bytes.ReplaceAll(frame, []byte(`"client:`+n.prefix+"demo"), []byte(`"demo`))
	frame = bytes.ReplaceAll(frame, []byte(`"client:`+n.prefix+"other"), []byte(`"other`))
	if v := ahp.Value(frame); v.IsValid() {
		return n.hideStandIn(v), true
	}
	return frame, true
}

func (n *namespace) isStandIn(id string) bool {
	return id == n.prefix+"demo" || id == n.prefix+"other" || id == n.prefix+hand
}

// hideStandIn removes the stand-in's clients from a value.
func (n *namespace) hideStandIn(v ahp.Value) ahp.Value {
	switch v.Kind() {
	case '[':
		list := read[[]ahp.Value](v)
		for i := range list {
			list[i] = n.hideStandIn(list[i])
		}
		return ahp.MustMarshal(list)
	case '{':
		members := read[map[string]ahp.Value](v)
		if string(members["kind"]) == `"client"` && n.isStandIn(read[string](members["clientId"])) {
			return ahp.Value(`{"kind":"server"}`)
		}
		for name, sub := range members {
			switch {
			case name == "origin" && n.isStandIn(ownerOf(sub)):
				delete(members, name)
			case name == "activeClients":
				members[name] = n.withoutStandIn(sub)
			default:
				members[name] = n.hideStandIn(sub)
			}
		}
		return ahp.MustMarshal(members)
	}
	return v
}

// withoutStandIn returns the active clients that are not the stand-in's.
func (n *namespace) withoutStandIn(v ahp.Value) ahp.Value {
	kept := []ahp.Value{}
	for _, c := range read[[]ahp.Value](v) {
		if !n.isStandIn(ownerOf(c)) {
			kept = append(kept, c)
		}
	}
	return ahp.MustMarshal(kept)
}

func ownerOf(v ahp.Value) string {
	return read[struct {
		ClientID string `json:"clientId,omitzero"`
	}](v).ClientID
}
