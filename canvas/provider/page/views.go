package page

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// viewer is a page that said hello.
type viewer struct {
	asked   bool // a change was announced to it, and it has not answered yet
	loading bool // it is being loaded again, and has not said hello yet
	speaks  bool // it takes actions (view/1)
}

// fromPage is a message of a page's script (doc.go lists them).
type fromPage struct {
	Kind     string               `json:"x-ahp-page"`
	Ref      ahp.Value            `json:"ref,omitzero"`
	Revision int64                `json:"revision,omitzero"`
	Values   map[string]ahp.Value `json:"values,omitzero"`
	Delete   []string             `json:"delete,omitzero"`
	URL      string               `json:"url,omitzero"`
}

// toPage is a message to a page's script.
type toPage struct {
	Kind      string               `json:"x-ahp-page"`
	Ref       ahp.Value            `json:"ref,omitzero"`
	Revision  int64                `json:"revision,omitzero"`
	By        string               `json:"by,omitzero"`
	What      string               `json:"what,omitzero"`
	Tools     bool                 `json:"tools,omitzero"`
	ReadOnly  bool                 `json:"readOnly,omitzero"`
	Values    map[string]ahp.Value `json:"values,omitzero"`
	Delete    []string             `json:"delete,omitzero"`
	Message   string               `json:"message,omitzero"`
	Code      string               `json:"code,omitzero"`
	Revisions []historyItem        `json:"revisions,omitzero"`
}

// historyItem is a revision as people and agents see it.
type historyItem struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	By       string    `json:"by"`
	What     string    `json:"what"`
}

// history returns the last revisions, the newest first. mu is held.
func (i *instance) history(most int) []historyItem {
	all := []historyItem{}
	for _, rev := range slices.Backward(i.rec.Revisions) {
		if len(all) == most {
			break
		}
		all = append(all, historyItem{rev.N, rev.Time, rev.By, rev.What})
	}
	return all
}

// post sends a message to all Views.
func (i *instance) post(m any) error { return i.h.Post(i.h.Context(), ahp.MustMarshal(m)) }

// answer sends a message to one View. A View that has left needs none.
func (i *instance) answer(to canvas.View, m any) {
	_ = i.h.PostTo(i.h.Context(), to, ahp.MustMarshal(m))
}

// Message handles a View's message: of our script, of view/1, or of the agent's page.
func (i *instance) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	i.Pages.Message(ctx, from, payload)
	var m struct {
		Tag  string `json:"x-ahp"`
		Type string `json:"type"`
	}
	if payload.Kind() == '{' && ahp.Unmarshal(payload, &m) == nil && m.Tag == "view/1" {
		i.mu.Lock()
		defer i.mu.Unlock()
		if v := i.viewers[from]; v != nil {
			v.speaks = m.Type != "bye"
		}
	}
}

// ViewGone forgets a View.
func (i *instance) ViewGone(from canvas.View) {
	i.Pages.ViewGone(from)
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.viewers, from)
	i.wake()
}

// awaitCurrent waits, at most for patience, until all pages show the current revision or
// ask their person about it. A call that went to a page about to be loaded again would
// fail with it.
func (i *instance) awaitCurrent(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		changed := i.changing()
		if changed == nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// changing returns nil if no page has yet to answer a change or to be loaded again, and
// otherwise a channel that is closed when a page did.
func (i *instance) changing() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, v := range i.viewers {
		if v.asked || v.loading {
			return i.moved
		}
	}
	return nil
}

// wake ends the waits for pages. mu is held.
func (i *instance) wake() {
	close(i.moved)
	i.moved = make(chan struct{})
}

// silent reports whether pages are open of which none takes actions.
func (i *instance) silent() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, v := range i.viewers {
		if v.speaks {
			return false
		}
	}
	return len(i.viewers) > 0
}

// onMessage handles the messages of our script, and raises those of the agent's page as
// events. Messages of view/1 do not reach it.
func (i *instance) onMessage(ctx context.Context, from canvas.View, payload ahp.Value) {
	var tag struct {
		Kind ahp.Value `json:"x-ahp-page,omitzero"`
	}
	if payload.Kind() != '{' || ahp.Unmarshal(payload, &tag) != nil || tag.Kind == nil {
		i.raise(from, payload)
		return
	}
	var m fromPage
	if ahp.Unmarshal(payload, &m) != nil {
		return // not from our script
	}
	switch m.Kind {
	case "hello":
		i.welcome(from)
	case "load":
		i.load(from)
	case "asking":
		i.settled(from)
	case "taken":
		i.mu.Lock()
		i.offer = nil
		i.mu.Unlock()
	case "history":
		i.sendHistory(from, m)
	case "revert":
		i.personReverts(ctx, from, m)
	case "set":
		i.setState(ctx, from, m)
	case "blocked":
		i.reportBlocked(m.URL)
	}
}

// sent is the event of a page's message.
type sent struct {
	Message ahp.Value `json:"message"`
	Role    string    `json:"role,omitzero"` // of the connection, if it is no person's
}

// raise makes an event of a page's message, or of the reason why it cannot be one. The
// event of a connection that is no person's has its role, so that an agent does not take
// its own words for a person's.
func (i *instance) raise(from canvas.View, payload ahp.Value) {
	s := sent{Message: payload}
	if !from.Person() {
		s.Role = from.Role
	}
	event, err := ahp.Marshal(s)
	if err == nil {
		err = i.h.Raise(event)
	}
	if err != nil {
		_ = i.h.Raise(ahp.MustMarshal(map[string]string{"lost": err.Error()})) // fails only if the canvas is closed
	}
}

// welcome answers a page's first message with the revision and the shared state. It holds
// mu, so that no change comes in between.
func (i *instance) welcome(from canvas.View) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.viewers[from] == nil {
		i.viewers[from] = &viewer{}
	}
	i.viewers[from].asked, i.viewers[from].loading = false, false
	i.wake()
	i.answer(from, toPage{Kind: "welcome", Revision: i.rec.head().N, Tools: from.Person(), ReadOnly: from.ReadOnly()})
	for part := range i.stateParts() {
		i.answer(from, toPage{Kind: "state", Values: part})
	}
	i.answer(from, toPage{Kind: "ready"})
	if i.offer != nil && i.offer.Revision == i.rec.head().N && from.Person() {
		i.answer(from, offering{"export", *i.offer})
	}
}

// patience is how long a page can take to answer a change before it is loaded again
// without being asked: its script hangs, or failed.
const patience = 3 * time.Second

// announce announces the current revision to all pages. A page without typed text then
// asks to be loaded again. mu is held.
func (i *instance) announce() error {
	head := i.rec.head()
	for v, state := range i.viewers {
		state.asked = true
		if v.ReadOnly() { // it cannot answer
			i.reload(v)
		}
	}
	if len(i.viewers) > 0 {
		if i.timer != nil {
			i.timer.Stop()
		}
		i.timer = time.AfterFunc(patience, i.reloadSilent)
	}
	return i.post(toPage{Kind: "changed", Revision: head.N, By: head.By, What: head.What})
}

// reload loads a View's page again. mu is held.
func (i *instance) reload(v canvas.View) {
	i.viewers[v].asked, i.viewers[v].loading = false, true
	_ = i.Reload(v) // fails only if the canvas was closed
}

func (i *instance) reloadSilent() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for v, state := range i.viewers {
		if state.asked {
			i.reload(v)
		}
	}
}

func (i *instance) load(from canvas.View) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.viewers[from] != nil {
		i.reload(from)
	}
}

// settled records that a page asks its person.
func (i *instance) settled(from canvas.View) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if v := i.viewers[from]; v != nil {
		v.asked = false
		i.wake()
	}
}

func (i *instance) sendHistory(to canvas.View, m fromPage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer(to, toPage{Kind: "history", Ref: m.Ref, Revision: i.rec.head().N, Revisions: i.history(MaxRevisions)})
}

// reverted tells the agent that a person went back.
type reverted struct {
	Type     string `json:"type"`
	To       int64  `json:"to"`
	Revision int64  `json:"revision"`
	By       string `json:"by"`
}

func (i *instance) personReverts(ctx context.Context, from canvas.View, m fromPage) {
	if err := from.MustBePerson(); err != nil {
		i.refuse(from, m, err)
		return
	}
	rev, err := i.goBack(ctx, byPerson, m.Revision)
	if err == nil {
		err = i.h.Raise(ahp.MustMarshal(reverted{"page.reverted", m.Revision, rev.N, byPerson}))
	}
	if err != nil {
		i.refuse(from, m, err)
		return
	}
	i.answer(from, toPage{Kind: "done", Ref: m.Ref})
}

func (i *instance) refuse(to canvas.View, m fromPage, err error) {
	text, code := err.Error(), ""
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		text, code = e.Message, e.Code
	}
	i.answer(to, toPage{Kind: "refused", Ref: m.Ref, Message: cmp.Or(text, "it failed"), Code: code})
}

const (
	maxBlocked    = 50  // addresses that are reported for a revision
	maxBlockedURL = 500 // characters of one
)

// blockedEvent tells the agent that a page asked for something elsewhere.
type blockedEvent struct {
	Type     string `json:"type"`
	URL      string `json:"url"`
	Revision int64  `json:"revision"`
	Text     string `json:"text"`
}

// reportBlocked reports an address once for each revision.
func (i *instance) reportBlocked(address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "ws", "wss"}, strings.ToLower(u.Scheme)) {
		return
	}
	address = clip(address, maxBlockedURL)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.blocked[address] || len(i.blocked) >= maxBlocked {
		return
	}
	i.blocked[address] = true
	_ = i.h.Raise(ahp.MustMarshal(blockedEvent{"page.blocked", address, i.rec.head().N, // fails only if the canvas is closed
		address + " was blocked: a canvas reaches only its own files; write the file into the canvas"}))
}
