package bridgecanvas

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// browserCall is a call as cards show it.
type browserCall struct {
	RuntimeID string `json:"runtime_id"`
	Host      string `json:"host"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Code      string `json:"code"`
	Ms        int64  `json:"ms"`
}

type logMessage struct {
	Actions string `json:"actions"`
	browserCall
}

// browserState is the message "state".
type browserState struct {
	Actions  string           `json:"actions"`
	Page     bool             `json:"page"`
	Address  string           `json:"address,omitzero"`
	Runtimes []browserRuntime `json:"runtimes"`
	Calls    []browserCall    `json:"calls"`
}

// browserRuntime is a runtime as cards show it: of one that waits only what a person needs
// to decide.
type browserRuntime struct {
	RuntimeID string   `json:"runtime_id"`
	Host      string   `json:"host"`
	Kind      string   `json:"kind"`
	Origin    string   `json:"origin,omitzero"`
	State     string   `json:"state"`
	Title     string   `json:"title,omitzero"`
	URL       string   `json:"url,omitzero"`
	Scripts   bool     `json:"scripts"`
	ActionsN  int      `json:"count"`
	Issues    []string `json:"issues,omitzero"`
	States    []string `json:"states,omitzero"`
	Dropped   int      `json:"dropped,omitzero"`
}

// Sizes of a state, which must fit a message.
const (
	stateBytes    = 56 << 10
	stateRuntimes = 36 << 10
)

// state returns the message for a card's Views.
func (c *browserCard) state() ahp.Value {
	st := browserState{Actions: "state", Address: c.p.opts.Address, Runtimes: []browserRuntime{}, Calls: []browserCall{}}
	all := c.p.bridge.Runtimes()
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	st.Page = c.isPage
	size := 0
	for _, r := range all {
		if !c.shows(r.ID) {
			continue
		}
		shown := shownRuntime(r)
		if size += len(ahp.MustMarshal(shown)); size > stateRuntimes {
			break
		}
		st.Runtimes = append(st.Runtimes, shown)
	}
	for n := len(c.p.log) - 1; n >= 0; n-- {
		entry := c.p.log[n]
		if !c.shows(entry.RuntimeID) {
			continue
		}
		if size += len(ahp.MustMarshal(entry)) + 1; size > stateBytes-1024 {
			break
		}
		st.Calls = append(st.Calls, entry)
	}
	return ahp.MustMarshal(st)
}

func shownRuntime(r actionsbridge.Runtime) browserRuntime {
	out := browserRuntime{
		RuntimeID: r.ID, Host: r.Host, Kind: string(r.Principal.Kind), Origin: r.Principal.Origin, State: string(r.State),
		Title: lineOf(r.Title, 200), URL: withoutQuery(r.URL), Scripts: r.Scripts, ActionsN: r.Actions, Dropped: r.Dropped,
	}
	for _, s := range r.States[:min(len(r.States), 8)] {
		out.States = append(out.States, lineOf(s, 64))
	}
	for _, i := range r.Issues[:min(len(r.Issues), 4)] {
		out.Issues = append(out.Issues, lineOf(i.String(), 200))
	}
	return out
}

// withoutQuery returns a page's address as cards show it.
func withoutQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	return lineOf(u.Scheme+"://"+u.Host+u.EscapedPath(), 256)
}

// lineOf returns text as one line of at most n code points.
func lineOf(text string, n int) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.In(c, unicode.Bidi_Control) || c == unicode.ReplacementChar {
			return ' '
		}
		return c
	}, strings.TrimSpace(text))
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

func cardTitle(r actionsbridge.Runtime) string {
	if r.Title == "" {
		return r.Host
	}
	return lineOf(r.Title, 200) + " – " + r.Host
}

func cardStatus(r actionsbridge.Runtime) string {
	if r.State == actionsbridge.Invalid {
		return "its manifest is invalid"
	}
	return fmt.Sprintf("%d actions", r.Actions)
}
