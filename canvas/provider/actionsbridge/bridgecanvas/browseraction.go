package bridgecanvas

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// Times and sizes of calls.
const (
	longCall    = 30 * time.Second // above it an agent receives the result as an event
	longWait    = 25 * time.Second // how long the agent waits for it first
	maxInline   = 48 << 10         // bytes of an output in an answer
	maxLongs    = 64               // calls that outlive their agent's wait
	previewSize = 1024
)

// browserInput is the input of any action; the declaration says which members each takes.
type browserInput struct {
	actionsbridge.Selector
	Name      string    `json:"name,omitzero"`
	Arguments ahp.Value `json:"arguments,omitzero"`
	TimeoutMs int       `json:"timeout_ms,omitzero"`
	CallID    string    `json:"call_id,omitzero"`
	Names     []string  `json:"names,omitzero"`
	Query     string    `json:"query,omitzero"`
	OutputID  string    `json:"output_id,omitzero"`
	Offset    int       `json:"offset,omitzero"`
	Length    int       `json:"length,omitzero"`
}

// Invoke runs an action of a card.
func (c *browserCard) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	var in browserInput
	if input != nil {
		if err := ahp.Unmarshal(input, &in); err != nil {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "the input cannot be read: %v", err)
		}
	}
	switch action {
	case "list_runtimes":
		return c.p.listRuntimes(), nil
	case "read_output":
		return c.p.outputs.read(time.Now(), in)
	}
	id, err := c.route(in.Selector)
	if err != nil {
		return nil, canvasError(err)
	}
	if action == "list_actions" {
		return c.p.listActions(id, in)
	}
	return c.call(ctx, id, in)
}

// route returns the runtime of an action: the bound one, or the one that is selected.
func (c *browserCard) route(s actionsbridge.Selector) (string, *actionsbridge.Error) {
	c.p.mu.Lock()
	isPage, id := c.isPage, c.runtimeID
	c.p.mu.Unlock()
	if isPage {
		return id, nil
	}
	r, err := c.p.bridge.Select(s)
	return r.ID, err
}

// listedRuntime is a runtime as an agent sees it.
type listedRuntime struct {
	RuntimeID   string                     `json:"runtime_id,omitzero"`
	RuntimeKey  string                     `json:"runtime_key,omitzero"`
	URL         string                     `json:"url,omitzero"`
	Host        string                     `json:"host"`
	Program     string                     `json:"program,omitzero"`
	Title       string                     `json:"title,omitzero"`
	Device      string                     `json:"device,omitzero"`
	State       actionsbridge.State        `json:"state"`
	Issues      []actionsbridge.Issue      `json:"issues,omitzero"`
	Actions     *int                       `json:"actions,omitzero"`
	States      []string                   `json:"states,omitzero"`
	Attachments []actionsbridge.Attachment `json:"attachments,omitzero"`
	LastSeen    string                     `json:"last_seen,omitzero"`
}

// listRuntimes returns all runtimes, as many as fit an answer; of those that are not let in
// only host and state.
func (p *Provider) listRuntimes() ahp.Value {
	out := struct {
		Runtimes []listedRuntime `json:"runtimes"`
		More     int             `json:"more,omitzero"`
	}{Runtimes: []listedRuntime{}}
	size := 0
	for _, r := range p.bridge.Runtimes() {
		l := listedRuntime{Host: r.Host, State: r.State}
		if r.LetIn() {
			l = listedRuntime{r.ID, r.Key, r.URL, r.Host, r.Program, r.Title, r.Device, r.State, r.Issues[:min(len(r.Issues), 8)], &r.Actions, r.States, r.Attachments, r.LastSeen.UTC().Format(time.RFC3339)}
		}
		if size += len(ahp.MustMarshal(l)) + 1; size > maxInline {
			out.More++
			continue
		}
		out.Runtimes = append(out.Runtimes, l)
	}
	return ahp.MustMarshal(out)
}

type listedAction struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitzero"`
	Support     string    `json:"support,omitzero"`
	InputSchema ahp.Value `json:"input_schema,omitzero"`
}

type hiddenAction struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// listActions returns what can be called on a runtime: the named actions first and with
// their schemas, then the others, with schemas as far as they fit.
func (p *Provider) listActions(id string, in browserInput) (ahp.Value, error) {
	all, err := p.bridge.Actions(id)
	if err != nil {
		return nil, canvasError(err)
	}
	out := struct {
		RuntimeID string         `json:"runtime_id"`
		Actions   []listedAction `json:"actions"`
		Hidden    []hiddenAction `json:"hidden"`
		More      int            `json:"more"`
	}{id, []listedAction{}, []hiddenAction{}, 0}
	size := 0
	for _, a := range wanted(all, in) {
		if a.Hidden != "" {
			h := hiddenAction{a.Name, a.Hidden}
			if size += len(ahp.MustMarshal(h)) + 1; size <= maxInline {
				out.Hidden = append(out.Hidden, h)
			} else {
				out.More++
			}
			continue
		}
		l := listedAction{a.Name, lineOf(a.Description, 400), a.Support, a.InputSchema}
		n := len(ahp.MustMarshal(l)) + 1
		if size+n > maxInline {
			l.InputSchema = nil
			n = len(ahp.MustMarshal(l)) + 1
		}
		if size+n > maxInline {
			out.More++
			continue
		}
		size += n
		out.Actions = append(out.Actions, l)
	}
	return ahp.MustMarshal(out), nil
}

// wanted returns the actions that fit the query, those of names first.
func wanted(all []actionsbridge.Action, in browserInput) []actionsbridge.Action {
	named := map[string]bool{}
	for _, n := range in.Names {
		named[n] = true
	}
	var first, rest []actionsbridge.Action
	query := strings.ToLower(in.Query)
	for _, a := range all {
		switch {
		case named[a.Name]:
			first = append(first, a)
		case in.Query == "" || strings.Contains(strings.ToLower(a.Name+" "+a.Description), query):
			rest = append(rest, a)
		}
	}
	return append(first, rest...)
}

// call calls an action of a runtime.
func (c *browserCard) call(ctx context.Context, id string, in browserInput) (ahp.Value, error) {
	call := actionsbridge.Call{ID: in.CallID, RuntimeID: id, Name: in.Name, Arguments: in.Arguments, Timeout: time.Duration(in.TimeoutMs) * time.Millisecond}
	if call.Timeout > longCall {
		return c.callLong(ctx, call)
	}
	value, err := c.p.bridge.Call(ctx, call)
	if err != nil {
		return nil, canvasError(err)
	}
	return c.p.outputs.fit(time.Now(), value), nil
}

// resultMessage is the event with the result of a long call.
type resultMessage struct {
	Type      string    `json:"type"`
	RuntimeID string    `json:"runtime_id"`
	CallID    string    `json:"call_id"`
	Name      string    `json:"name"`
	Value     ahp.Value `json:"value,omitzero"`
	Error     ahp.Value `json:"error,omitzero"`
}

type pendingMessage struct {
	Pending bool   `json:"pending"`
	CallID  string `json:"call_id"`
}

type longResult struct {
	value ahp.Value
	err   *actionsbridge.Error
}

// callLong calls an action that may take longer than an agent waits: after 25 s the answer
// is {pending, call_id}, and the result is the event actions.result.
func (c *browserCard) callLong(ctx context.Context, call actionsbridge.Call) (ahp.Value, error) {
	if call.ID == "" {
		call.ID = rand.Text()
	}
	p := c.p
	if !p.outputs.enter() {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%d calls have not ended, which is the limit; wait for one", maxLongs)
	}
	results, left := make(chan longResult), make(chan struct{})
	p.done.Go(func() {
		defer p.outputs.leave()
		value, err := p.bridge.Call(p.ctx, call)
		select {
		case results <- longResult{value, err}:
		case <-left:
			c.raiseResult(call, longResult{value, err})
		}
	})
	defer close(left)
	timer := time.NewTimer(longWait)
	defer timer.Stop()
	select {
	case r := <-results:
		if r.err != nil {
			return nil, canvasError(r.err)
		}
		return p.outputs.fit(time.Now(), r.value), nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return ahp.MustMarshal(pendingMessage{true, call.ID}), nil
}

// raiseResult raises the result of a long call.
func (c *browserCard) raiseResult(call actionsbridge.Call, r longResult) {
	m := resultMessage{Type: "actions.result", RuntimeID: call.RuntimeID, CallID: call.ID, Name: call.Name}
	if r.err != nil {
		m.Error = r.err.Object()
		if len(m.Error) > maxInline {
			m.Error = ahp.MustMarshal(map[string]any{"code": r.err.Code, "message": r.err.Message})
		}
	} else {
		m.Value = c.p.outputs.fit(time.Now(), r.value)
	}
	event := ahp.MustMarshal(m)
	if c.h.Raise(event) == nil {
		return
	}
	for _, other := range c.p.oneEach(func(o *browserCard) bool { return o.runtimeID == call.RuntimeID }) {
		if other.h.Session() == c.h.Session() { // the card was opened again
			_ = other.h.Raise(event)
		}
	}
}

// digest is the checksum of an output.
func digest(v ahp.Value) string {
	sum := sha256.Sum256(v)
	return hex.EncodeToString(sum[:])
}

// cutText returns the first bytes of a text, cut between characters.
func cutText(text []byte, n int) string {
	if n >= len(text) {
		return string(text)
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return string(text[:n])
}
