package host_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// provider is a client id with the model's state of it. Fields that requests use are
// guarded by the run's mutex.
type provider struct {
	run     *modelRun
	id      string
	capable bool
	conns   []*wireConn // live, oldest first
	secret  string      // shows the host that a connection is this client
	seq     int         // of dispatches
	known   int         // the run of the host in which it initialized last

	active   bool      // in SessionState.activeClients
	declares []string  // canvas ids, in order
	lostAt   time.Time // when the last connection ended

	mode mode
	// generation increases when calls in flight have failed.
	generation int
	declared   int // how often it declared canvases
}

func (c *provider) extension() string { return "client:" + c.id }

// reachable reports whether the host can open a canvas of the client.
func (c *provider) reachable(canvasID string) bool {
	return c.capable && c.active && len(c.conns) > 0 && slices.Contains(c.declares, canvasID)
}

// answered is an event of the run: a provider has answered canvasOpen, or a close has
// completed.
type answered struct {
	instance   string
	closed     bool
	client     *provider
	canvasID   string
	generation int
	life       int  // of the instance when the provider was asked
	reopen     bool // the instance was stale then
	declared   int  // how often the client had declared canvases then
	conn       *wireConn
	input      string
}

// asked handles a request of the host, on the connection's goroutine.
func (c *provider) asked(conn *wireConn, f frame) {
	var p struct {
		InstanceID string          `json:"instanceId"`
		CanvasID   string          `json:"canvasId"`
		Input      json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(f.Params, &p)
	r := c.run
	r.mu.Lock()
	how, generation, life := c.mode, c.generation, r.instance(p.InstanceID).life
	reopen, declared := r.instance(p.InstanceID).open && !r.instance(p.InstanceID).ready, c.declared
	r.count(conn, f.Method, p.InstanceID, string(p.Input))
	newest := len(c.conns) > 0 && c.conns[len(c.conns)-1] == conn
	r.mu.Unlock()
	if !newest {
		conn.fail(fmt.Errorf("%s did not go to the newest connection", f.Method))
	}
	reply := func() {
		if !conn.alive() {
			return
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": f.ID, "result": map[string]any{}}
		switch {
		case how == refusing:
			delete(answer, "result")
			answer["error"] = map[string]any{"code": -32012, "message": "no", "data": map[string]any{"code": "no", "message": "no"}}
		case f.Method == canvas.CanvasOpen.Name:
			answer["result"] = map[string]any{"url": "https://example.com/" + p.InstanceID, "title": string(p.Input)}
			r.note(answered{
				instance: p.InstanceID, client: c, canvasID: p.CanvasID, generation: generation, life: life,
				reopen: reopen, declared: declared, conn: conn, input: string(p.Input),
			})
		}
		conn.send(answer)
	}
	switch how {
	case promptly, refusing:
		reply()
	case late:
		time.AfterFunc(lateness, reply)
	case never:
	}
}

// countedCall is a request that providers count.
type countedCall struct{ method, instance, token string }

// count counts a request. An invocation has a unique token and is received once in the
// run, a close once for each time that an instance is open, and an open at most as often
// as the model has a cause for it. The caller holds the mutex.
func (r *modelRun) count(conn *wireConn, method, instance, input string) {
	k := countedCall{method: method, instance: instance}
	switch method {
	case canvas.CanvasInvokeAction.Name:
		k.token = input
	case canvas.CanvasClose.Name:
		k.token = fmt.Sprint("life ", r.instance(instance).life)
	}
	r.calls[k]++
	most := 1
	if method == canvas.CanvasClose.Name {
		most += r.instance(instance).dropped
	}
	if method == canvas.CanvasOpen.Name {
		most = r.instance(instance).causes
	}
	if r.calls[k] > most {
		go conn.fail(fmt.Errorf("%+v was received %d times, want at most %d", k, r.calls[k], most))
	}
}

func (r *modelRun) note(e answered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.instance(e.instance)
	over := i.life > e.life || slices.ContainsFunc(r.events, func(o answered) bool { return o.closed && o.instance == e.instance })
	switch {
	case e.closed:
	case over:
		i.dropped++ // it was closed meanwhile: the provider receives a close
		return
	case e.generation == e.client.generation && !slices.Contains(e.client.declares, e.canvasID):
		i.dropped++ // its declaration was withdrawn meanwhile: the provider receives a close
	}
	r.events = append(r.events, e)
}
