package aamcanvas

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

// grant lets an agent in. The PIN is sealed together with everything that is granted, so a
// program that has seen the message can neither use it again nor grant more with it.
func (a *agents) grant(from canvas.View, m fromAgents) (string, error) {
	if m.PIN != nil {
		return "", canvas.Errorf(CodeNotSealed, "the PIN came in the clear, where other programs can read it; set another one: ahp-canvas aam pin")
	}
	secret, err := a.keys.open(from, m.Sealed, "grant", m.Request, strings.Join(m.Actions, ","), m.PerCall, strconv.Itoa(m.PerDay), strconv.Itoa(m.Days))
	if err != nil {
		return "", err
	}
	if a.hub.pin == nil {
		return "", errNoPIN
	}
	if err := a.hub.pin.Check(string(secret)); err != nil {
		return "", err
	}
	if len(m.Actions) == 0 {
		return "", canvas.Errorf(canvas.CodeInputInvalid, "choose at least one action")
	}
	return a.hub.site.Approve(m.Request, site.Grant{Actions: m.Actions, PerCall: m.PerCall, PerDay: m.PerDay, Days: m.Days})
}

var errNoPIN = canvas.Errorf("aam_pin_unset", "this needs a PIN, and this host keeps none; start it with a state folder and run: ahp-canvas aam pin")

// Limits of a state, which must fit a message of 64 KiB.
const (
	stateAgents   = 14 << 10
	stateRequests = 10 << 10
	stateRows     = 18 << 10
	stateActions  = 10 << 10
	rowsShown     = 50
)

// agentsState is what the page shows.
type agentsState struct {
	Name     string         `json:"name"`
	Origin   string         `json:"origin"`
	PIN      bool           `json:"pin"`
	Collects bool           `json:"facilitator,omitzero"` // a facilitator can collect payments
	Actions  []actionShown  `json:"actions"`
	Requests []site.Request `json:"requests"`
	Agents   []site.Token   `json:"agents"`
	Rows     []site.Row     `json:"rows"`
	Payments paymentsShown  `json:"payments"`
}

type actionShown struct {
	ID    string `json:"id"`
	Price string `json:"price"`
}

// paymentsShown counts kept payments by their state.
type paymentsShown struct {
	Signed    int `json:"signed"`
	Collected int `json:"collected"`
	Failed    int `json:"failed"`
	Unknown   int `json:"unknown"`
}

func payments(s *site.Site) (n paymentsShown) {
	for _, k := range s.Payments() {
		switch k.State {
		case site.StateSigned:
			n.Signed++
		case site.StateCollected:
			n.Collected++
		case site.StateFailed:
			n.Failed++
		default:
			n.Unknown++
		}
	}
	return n
}

// state returns the message with the state, and the status of the card. mu is held.
func (b *agentsHub) state() (message ahp.Value, status string) {
	b.revision++
	st := agentsState{
		Name: ahp.Line(b.site.Info().Name, 80), Origin: b.site.Origin(), PIN: b.pin != nil && b.pin.Set(), Collects: b.site.Collects(),
		Requests: fit(b.site.Pending(), stateRequests), Rows: fit(b.site.Newest(rowsShown), stateRows), Payments: payments(b.site),
	}
	all := b.site.Tokens()
	st.Agents = fit(all, stateAgents)
	var actions []actionShown
	for _, a := range b.site.Actions() {
		if !a.Public {
			actions = append(actions, actionShown{a.ID, a.Pricing.String()})
		}
	}
	st.Actions = fit(actions, stateActions)
	status = b.waits()
	switch {
	case status != "":
	case len(all) == 1:
		status = "One agent is let in"
	case len(all) > 1:
		status = fmt.Sprintf("%d agents are let in", len(all))
	default:
		status = "No agent is let in"
	}
	return ahp.MustMarshal(struct {
		AAM      string      `json:"aam"`
		Revision int64       `json:"revision"`
		State    agentsState `json:"state"`
	}{"state", b.revision, st}), status
}

// waits says how many agents wait for the person's answer; "" if none does.
func (b *agentsHub) waits() string {
	switch n := len(b.site.Pending()); n {
	case 0:
		return ""
	case 1:
		return "One agent waits for you"
	default:
		return fmt.Sprintf("%d agents wait for you", n)
	}
}

// fit returns the first items whose encoding has at most limit bytes.
func fit[T any](items []T, limit int) []T {
	out := []T{}
	for _, item := range items {
		if limit -= len(ahp.MustMarshal(item)) + 1; limit < 0 {
			break
		}
		out = append(out, item)
	}
	return out
}

// Limits of an answer, which has at most 64 KiB.
const (
	listBytes = 24 << 10
	logBytes  = 60 << 10
	logRows   = 20
)

// Invoke runs an action of the session's agent. It can look and take away, and grants
// nothing.
func (a *agents) Invoke(_ context.Context, action string, input ahp.Value) (ahp.Value, error) {
	var in struct {
		Limit int    `json:"limit,omitzero"`
		ID    string `json:"id,omitzero"`
	}
	if input != nil {
		if err := ahp.Unmarshal(input, &in); err != nil {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "%v", err)
		}
	}
	s := a.hub.site
	switch action {
	case "list":
		return ahp.Marshal(struct {
			Agents   []site.Token   `json:"agents"`
			Requests []site.Request `json:"requests"`
			Payments paymentsShown  `json:"payments"`
		}{fit(s.Tokens(), listBytes), fit(s.Pending(), listBytes), payments(s)})
	case "log":
		if in.Limit == 0 {
			in.Limit = logRows
		}
		return ahp.Marshal(fit(s.Newest(in.Limit), logBytes))
	case "revoke":
		return revoke(s, in.ID)
	}
	return nil, canvas.Errorf(canvas.CodeNoHandler, "this canvas has no action %q", action)
}

// CodeNoFacilitator says that the site's configuration names none.
const CodeNoFacilitator = "aam_no_facilitator"

// CodeCollecting says that another batch is running.
const CodeCollecting = "aam_collecting"

// collect has the facilitator execute kept payments, for a person: a payment that was sent
// cannot be taken back. It does not block, because a batch takes seconds; the View gets the
// sum.
func (a *agents) collect(from canvas.View, ref ahp.Value) error {
	b := a.hub
	if !b.collecting.CompareAndSwap(false, true) {
		return canvas.Errorf(CodeCollecting, "payments are being collected already; try again in some seconds")
	}
	b.background(func() {
		defer b.collecting.Store(false)
		sum, err := b.site.Collect(b.ctx)
		if errors.Is(err, site.ErrNoFacilitator) {
			err = canvas.Errorf(CodeNoFacilitator, "%v", err)
		}
		a.reply(from, answer{AAM: "done", Ref: ref, Collected: &sum}, err)
	})
	return nil
}

func revoke(s *site.Site, id string) (ahp.Value, error) {
	err := s.Revoke(id)
	if errors.Is(err, site.ErrNoToken) {
		e := canvas.Errorf(canvas.CodeInputInvalid, "there is no agent %q; list has those that were let in", id)
		e.Path = "/input/id"
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return ahp.Marshal(struct {
		Revoked string `json:"revoked"`
	}{id})
}
