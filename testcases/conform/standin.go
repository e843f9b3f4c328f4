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

// standIn provides the demo extensions in the place of a host that does not have
// them: as a client of the case's session. What the host says of its clients is
// told to the case as if they were the host's own (see [names.asServer]).
type standIn struct {
	session  string        // the case's default session
	patience time.Duration // for what a client of its own asks the host
	clients  map[string]*client.Client

	mu  sync.Mutex
	raw map[string]net.Conn // the present connection of each
}

// extensions are the demo extensions, by id.
var extensions = []struct {
	id, name string
	set      []canvas.Declaration
}{
	{"demo", "Demo", []canvas.Declaration{demo.Declaration}},
	{"other", "Other", demo.Others},
}

// newStandIn declares both extensions to the case's default session.
func newStandIn(ctx context.Context, e *env) (*standIn, error) {
	s := &standIn{
		session: e.names.session("default"), patience: e.opts.Patience, clients: map[string]*client.Client{}, raw: map[string]net.Conn{},
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for _, x := range extensions {
		c, err := client.Dial(ctx, e.opts.URL, client.Options{
			ClientID: e.names.prefix + x.id, Token: e.opts.Token, Versions: []string{e.names.offer()},
			Provider: client.ProviderFunc(openDemo),
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
			return nil, fmt.Errorf("the stand-in for the extension %s: %w", x.id, err)
		}
		s.clients[x.id] = c
		if err := c.Provide(ctx, s.session, x.name, x.set...); err != nil {
			s.leave()
			return nil, fmt.Errorf("the stand-in for the extension %s: %w", x.id, err)
		}
	}
	return s, nil
}

// leave ends the stand-in.
func (s *standIn) leave() {
	for _, c := range s.clients {
		c.Close()
	}
}

// host does what a host of the tests does to its own extensions: one is gone
// when its connection is cut, and back when it reconnects.
func (s *standIn) host(ctx context.Context, what string) error {
	word, id, _ := strings.Cut(what, " ")
	c := s.clients[id]
	switch {
	case c != nil && word == "gone":
		s.mu.Lock()
		_ = s.raw[id].Close()
		s.mu.Unlock()
		<-c.Disconnected()
		s.noticed(ctx, c)
		return nil
	case c != nil && word == "back":
		ctx, cancel := context.WithTimeout(ctx, s.patience)
		defer cancel()
		return c.Reconnect(ctx)
	}
	return fmt.Errorf("nobody outside of a host can make it %q", what)
}

// noticing is how long a host may take to see that a connection was cut.
const noticing = 2 * time.Second

// noticed waits until the host has seen that a stand-in's connection was cut, which
// another one is told: what the case does next comes over other connections, which
// are not ordered with that one. A host that does not say it is left to the case.
func (s *standIn) noticed(ctx context.Context, cut *client.Client) {
	ctx, cancel := context.WithTimeout(ctx, noticing)
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

// ready reports whether a canvas of a client is.
func ready(s session.State, of *client.Client) bool {
	return slices.ContainsFunc(s.OpenCanvases, func(r session.OpenCanvasRef) bool {
		return r.ExtensionID == "client:"+of.ID() && r.Availability == session.Ready
	})
}

func openDemo(ctx context.Context, req canvas.OpenRequest, h *client.Handle) (canvas.Opened, error) {
	p := &panel{h: h}
	opened, err := demo.Open(ctx, req, p)
	p.title, p.status = &opened.Title, &opened.Status
	return opened, err
}

// panel is a client's canvas as a demo.Panel. The host does not send an update of
// its own that changes nothing, and echoes a client's: so this one sends none.
type panel struct {
	h             *client.Handle
	title, status *string // nil where they were cleared
}

// Update implements demo.Panel; the counter calls it from one call at a time.
func (p *panel) Update(ctx context.Context, u canvas.Update) error {
	if same(u.Title, p.title) && same(u.Status, p.status) && !u.URL.Present {
		return nil
	}
	p.title, p.status = u.Title.Or(p.title), u.Status.Or(p.status)
	return p.h.Update(ctx, u)
}

func same(f ahp.Field[string], old *string) bool {
	now := f.Or(old)
	return now == old || now != nil && old != nil && *now == *old
}

// Context implements demo.Panel; a client's handle does not end.
func (p *panel) Context() context.Context { return context.Background() }

// Post implements demo.Panel.
func (p *panel) Post(ctx context.Context, payload ahp.Value) error { return p.h.Post(ctx, payload) }

// PostTo is not asked for: cases that need it are not played with a stand-in.
func (p *panel) PostTo(context.Context, canvas.View, ahp.Value) error {
	return fmt.Errorf("a client speaks to all Views")
}

// Raise is not asked for either.
func (p *panel) Raise(ahp.Value) error { return fmt.Errorf("a client raises no events") }

// asServer tells a frame of the host as if the stand-in's clients were extensions
// of the host. It reports false for frames that are about these clients alone.
func (n *names) asServer(frame []byte) ([]byte, bool) {
	if !n.standIn || !bytes.Contains(frame, []byte(n.prefix+"demo")) && !bytes.Contains(frame, []byte(n.prefix+"other")) {
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
		return n.hide(v), true
	}
	return frame, true
}

func (n *names) isStandIn(id string) bool { return id == n.prefix+"demo" || id == n.prefix+"other" }

// hide takes the stand-in's clients out of a value.
func (n *names) hide(v ahp.Value) ahp.Value {
	switch v.Kind() {
	case '[':
		list := read[[]ahp.Value](v)
		for i := range list {
			list[i] = n.hide(list[i])
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
				members[name] = n.others(sub)
			default:
				members[name] = n.hide(sub)
			}
		}
		return ahp.MustMarshal(members)
	}
	return v
}

// others are the active clients that are not the stand-in's.
func (n *names) others(v ahp.Value) ahp.Value {
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
