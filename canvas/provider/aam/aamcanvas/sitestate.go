package aamcanvas

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// Limits of a state, which must fit a message of 64 KiB.
const (
	siteActionsBytes = 10 << 10
	siteAsksBytes    = 34 << 10
	siteLogBytes     = 6 << 10
	siteLogRows      = 30
)

// siteState is what the page shows. It has no secrets.
type siteState struct {
	Name     string        `json:"name"`
	Host     string        `json:"host"`
	Site     string        `json:"site"`
	About    string        `json:"about,omitzero"`
	Vendor   string        `json:"vendor"`
	Warnings []aam.Warning `json:"warnings"`
	Problem  string        `json:"problem,omitzero"`
	SignedIn *signedIn     `json:"signedIn,omitzero"`
	CanSign  bool          `json:"canSign"`
	Link     string        `json:"link,omitzero"`
	Checkout string        `json:"checkout,omitzero"`
	PIN      bool          `json:"pin"`
	Actions  []actionRow   `json:"actions"`
	Asks     []askShown    `json:"asks"`
	Waiting  int           `json:"waiting"`
	Always   []string      `json:"always"`
	Budget   *budgetShown  `json:"budget,omitzero"`
	Unknown  []unknown     `json:"unknown"`
	Log      []siteRow     `json:"log"`
}

type signedIn struct {
	Credential bool     `json:"credential,omitzero"`
	Actions    []string `json:"actions,omitzero"`
	Expires    string   `json:"expires,omitzero"`
}

type actionRow struct {
	ID    string `json:"id"`
	About string `json:"about,omitzero"`
	Price string `json:"price"`
	Auth  string `json:"auth"`
}

// askShown is a question to the person.
type askShown struct {
	ID      string       `json:"id"`
	Digest  string       `json:"digest"`
	Kind    string       `json:"kind"`
	Action  string       `json:"action"`
	Params  []paramShown `json:"params"`
	Price   string       `json:"price"`
	To      string       `json:"to,omitzero"`
	Network string       `json:"network,omitzero"`
	Test    bool         `json:"test,omitzero"`
	Issuer  string       `json:"issuer,omitzero"`
	PIN     bool         `json:"pin"`
	Until   string       `json:"until"`
}

type paramShown struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type budgetShown struct {
	Call  string `json:"call"`
	Day   string `json:"day"`
	Spent string `json:"spent"`
}

type unknown struct {
	Action  string `json:"action"`
	Amount  string `json:"amount"`
	To      string `json:"to"`
	Network string `json:"network"`
	Time    string `json:"time"`
}

// visible shows control and direction characters as escapes, so that they cannot hide or
// reorder what a person approves.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cf, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// shownParams returns parameters as names and values.
func shownParams(params ahp.Value) []paramShown {
	var all map[string]ahp.Value
	if ahp.Unmarshal(params, &all) != nil {
		return []paramShown{{"", visible(string(params))}}
	}
	out := make([]paramShown, 0, len(all))
	for name, v := range all {
		text := string(v)
		if v.Kind() == '"' {
			_ = ahp.Unmarshal(v, &text) // it is a string
		}
		out = append(out, paramShown{visible(name), visible(text)})
	}
	slices.SortFunc(out, func(a, b paramShown) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// asks returns the questions that fit, the oldest first. The mutex is held.
func (s *siteCanvas) asks() (list []askShown, waiting int) {
	for _, id := range s.order {
		c := s.calls[id]
		if c.ask == nil {
			continue
		}
		waiting++
		a := askShown{ID: c.ask.id, Digest: c.ask.digest, Kind: c.ask.kind, Action: c.action, Params: shownParams(c.params),
			Issuer: c.ask.issuer, PIN: c.ask.needsPIN(), Until: c.ask.until.UTC().Format(time.RFC3339)}
		if s.manifest != nil {
			if action, err := s.manifest.Action(c.action); err == nil {
				a.Price = action.Pricing.String()
			}
		}
		if c.due != nil {
			p := c.due.Price
			a.Price, a.To, a.Network, a.Test = p.Amount.Price()+" USDC", p.PayTo.String(), p.Network.Name, p.Network.Test
		}
		list = append(list, a)
	}
	return fit(list, siteAsksBytes), waiting
}

// state returns the message with the state. The mutex is held.
func (s *siteCanvas) state() ahp.Value {
	s.revision++
	st := siteState{Host: s.at.Host(), Site: s.at.String(), Vendor: s.client.Vendor(), Link: s.link, Checkout: s.checkout, Problem: s.problem,
		PIN: s.hub.pin != nil && s.hub.pin.Set(), Warnings: fit(s.warnings, 4<<10), Always: fit(s.saved.Always, 2<<10), Unknown: []unknown{}, Actions: []actionRow{}}
	if m := s.manifest; m != nil {
		st.Name, st.About = ahp.Line(m.Site.Name, 80), ahp.Line(m.Site.Description, 300)
		st.CanSign = len(m.Proofs()) > 0
		if in, ok := s.client.SignedInAt(m, s.at, hostOwner); ok {
			st.SignedIn = &signedIn{Credential: in.Credential, Actions: fit(in.Actions, 1<<10)}
			if !in.Expires.IsZero() {
				st.SignedIn.Expires = in.Expires.UTC().Format(time.RFC3339)
			}
		}
		var rows []actionRow
		for _, a := range m.Actions {
			rows = append(rows, actionRow{a.ID, ahp.Line(a.Description, 200), a.Pricing.String(), s.auth(m, a.ID)})
		}
		st.Actions = fit(rows, siteActionsBytes)
	}
	st.Asks, st.Waiting = s.asks()
	ledger := s.client.Ledger()
	if b, spent, ok := ledger.Budget(s.at.String()); ok {
		st.Budget = &budgetShown{b.Call.Price(), b.Day.Price(), spent.Price()}
	}
	for _, p := range ledger.Unknown(s.at.String()) {
		st.Unknown = append(st.Unknown, unknown{p.Action, p.Amount.Price(), p.To.String(), p.Network, p.Time.UTC().Format(time.RFC3339)})
	}
	st.Unknown = fit(st.Unknown, 2<<10)
	rows := slices.Clone(s.saved.Log[max(0, len(s.saved.Log)-siteLogRows):])
	slices.Reverse(rows)
	st.Log = fit(rows, siteLogBytes)
	return ahp.MustMarshal(struct {
		AAM      string    `json:"aam"`
		Revision int64     `json:"revision"`
		State    siteState `json:"state"`
	}{"state", s.revision, st})
}

// label returns the title and the status of the card.
func (s *siteCanvas) label() (title, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	title = s.at.Host()
	if s.manifest == nil {
		return title, "The site cannot be reached"
	}
	title = ahp.Line(s.manifest.Site.Name, 60) + " (" + s.at.Host() + ")"
	_, in := s.client.SignedInAt(s.manifest, s.at, hostOwner)
	switch {
	case s.waits() != "":
		return title, "Waits for you"
	case len(s.client.Ledger().Unknown(s.at.String())) > 0:
		return title, "A payment's outcome is not known"
	case in:
		return title, "Signed in"
	case s.link != "":
		return title, "Sign in needed"
	}
	return title, "Ready"
}

// changed sends the state to all Views, in the order of revisions.
func (s *siteCanvas) changed() {
	title, status := s.label()
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := s.h.Context()
	_ = s.h.Post(ctx, s.state()) // the canvas was closed meanwhile
	_ = s.h.Update(ctx, canvas.Update{Title: ahp.Set(title), Status: ahp.Set(status)})
	_ = s.h.Attention(s.waits())
	_ = s.h.Progress(0, 0, s.runs()) // how long a site takes is not known
}

// runs says what the site works on; "" if it works on nothing. The mutex is held.
func (s *siteCanvas) runs() string {
	for _, id := range s.order {
		if c := s.calls[id]; c.running {
			return c.action + " runs at " + s.at.Host()
		}
	}
	return ""
}

// waits says which call waits for the person's answer; "" if none does. The mutex is held.
func (s *siteCanvas) waits() string {
	for _, id := range s.order {
		if c := s.calls[id]; c.ask != nil {
			return "The agent asks: " + c.action
		}
	}
	return ""
}

func (s *siteCanvas) sendState(to canvas.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.h.PostTo(s.h.Context(), to, s.state()) // the View has left
}
