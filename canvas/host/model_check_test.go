package host_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func (r *modelRun) closeByAgent(id string) {
	r.closes(id, func(i *modelInstance) {
		err := r.host.Canvases().Close(context.Background(), host.DefaultSession, id)
		if err == nil {
			r.note(answered{instance: id, closed: true})
		}
		r.mu.Lock()
		i.closing = false
		r.mu.Unlock()
	})
}

// closeByPerson requests a close through a renderer, twice: the host runs one flow.
func (r *modelRun) closeByPerson(id string) {
	r.closes(id, func(i *modelInstance) {
		open, _ := r.host.Canvases().ListOpen(host.DefaultSession)
		for _, o := range open {
			if o.InstanceID == id {
				for range 2 {
					_, _ = r.watcher.DispatchAsync(o.Channel, canvas.CloseRequested{})
				}
			}
		}
		time.Sleep(40 * time.Second) // an open without an answer comes first
		r.note(answered{instance: id, closed: true})
		r.mu.Lock()
		i.closing = false
		r.mu.Unlock()
	})
}

// closes runs a close flow on an open instance without other calls, and expects that its
// provider receives the close immediately, if it is reachable.
func (r *modelRun) closes(id string, flow func(*modelInstance)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.instance(id)
	if i.closing || i.ops > 0 || !i.open {
		return
	}
	i.closing = true
	if i.ready {
		k := countedCall{canvas.CanvasClose.Name, id, fmt.Sprint("life ", i.life)}
		before := r.calls[k] // of opens whose answers were too late
		r.expected = append(r.expected, func() error {
			if n := r.calls[k] - before; n != 1 {
				return fmt.Errorf("the provider received %d closes of %s, want 1", n, id)
			}
			return nil
		})
	}
	go flow(i)
}

// applyEvents updates the model with the events since the last step.
func (r *modelRun) applyEvents() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		i := r.instance(e.instance)
		switch {
		case e.closed:
			i.open, i.ready, i.owner, i.input, i.life = false, false, nil, "", i.life+1
		case e.generation != e.client.generation || !e.client.reachable(e.canvasID) || !slices.Contains(e.client.conns, e.conn):
		case e.reopen && e.declared != e.client.declared: // the declaration asked again
		default:
			i.open, i.ready, i.owner, i.canvasID, i.input = true, true, e.client, e.canvasID, e.input
		}
	}
	r.events = nil
}

// check compares the host, and a mirror of it, with the model.
func (r *modelRun) check() error {
	err := r.checkSession()
	for _, c := range r.conns {
		c.mu.Lock()
		err = errors.Join(err, c.broken)
		c.mu.Unlock()
	}
	r.mu.Lock()
	for _, want := range r.expected {
		err = errors.Join(err, want())
	}
	r.expected = nil
	r.mu.Unlock()
	return errors.Join(err, r.checkWatcher())
}

func (r *modelRun) session() session.State {
	state, _ := r.host.Log().State(host.DefaultSession)
	return state.(session.State)
}

func (r *modelRun) checkSession() error {
	st := r.session()
	r.mu.Lock()
	defer r.mu.Unlock()
	var declared, active, wantDeclared, wantActive []string
	for _, d := range st.Canvases {
		declared = append(declared, d.ExtensionID+" "+d.CanvasID)
	}
	for _, c := range st.ActiveClients {
		active = append(active, c.ClientID)
	}
	for _, c := range r.clients {
		if c.active {
			wantActive = append(wantActive, c.id)
		}
		for _, id := range c.declares {
			if c.capable {
				wantDeclared = append(wantDeclared, c.extension()+" "+id)
			}
		}
	}
	for _, list := range [][]string{declared, active, wantDeclared, wantActive} {
		slices.Sort(list)
	}
	if diff := cmp.Diff([][]string{wantActive, wantDeclared}, [][]string{active, declared}); diff != "" {
		return fmt.Errorf("active clients and registry (-model +host):\n%s", diff)
	}
	return r.checkOpen(st)
}

// checkOpen compares open instances, without those that are closing.
func (r *modelRun) checkOpen(st session.State) error {
	want, got := map[string]string{}, map[string]string{}
	for id, i := range r.instances {
		if i.open && !i.closing {
			availability := session.Stale
			if i.ready {
				availability = session.Ready
			}
			want[id] = fmt.Sprint(i.owner.extension(), i.canvasID, availability, i.input)
		}
	}
	for _, row := range st.OpenCanvases {
		state, _ := r.host.Log().State(row.Channel)
		c, ok := state.(canvas.CanvasState)
		if !ok || c.Availability != row.Availability {
			return fmt.Errorf("row %+v, channel %+v", row, state)
		}
		if !r.instance(row.InstanceID).closing {
			got[row.InstanceID] = fmt.Sprint(c.ExtensionID, c.CanvasID, c.Availability, string(c.Input))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("open canvases (-model +host):\n%s", diff)
	}
	return nil
}

// checkWatcher subscribes to every channel and compares the mirror.
func (r *modelRun) checkWatcher() error {
	uris := []string{host.DefaultSession}
	for _, row := range r.session().OpenCanvases {
		uris = append(uris, row.Channel)
		if _, ok := r.watcher.State(row.Channel); ok {
			continue
		}
		if _, err := r.watcher.Subscribe(context.Background(), row.Channel); err != nil {
			return err
		}
	}
	for _, uri := range uris {
		want, _ := r.host.Log().State(uri)
		got, ok := r.watcher.State(uri)
		if !ok || !ahp.Equal(ahp.MustMarshal(want), ahp.MustMarshal(got.State)) {
			return fmt.Errorf("%s: the mirror has\n%s\nand the host\n%s", uri, ahp.MustMarshal(got.State), ahp.MustMarshal(want))
		}
	}
	return nil
}
