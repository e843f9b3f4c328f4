package actionsbridge

import (
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Selector says which runtime is meant. All members that are given must fit; substrings are
// compared without case.
type Selector struct {
	// RuntimeID and TargetRuntimeID are the runtime's id.
	RuntimeID       string `json:"runtime_id,omitzero"`
	TargetRuntimeID string `json:"target_runtime_id,omitzero"` // see RuntimeID
	// Target has the id or the key.
	Target *Target `json:"target,omitzero"`
	// URLContains is a part of the page's address.
	URLContains string `json:"target_url_contains,omitzero"`
	// TitleContains is a part of the page's title.
	TitleContains string `json:"target_title_contains,omitzero"`
}

// IsZero reports whether nothing is selected.
func (s Selector) IsZero() bool {
	return s == Selector{} || s == Selector{Target: s.Target} && *s.Target == Target{}
}

func (s Selector) fits(rt *runtime) bool {
	for _, id := range []string{s.RuntimeID, s.TargetRuntimeID, s.target().RuntimeID} {
		if id != "" && id != rt.id {
			return false
		}
	}
	key := s.target().RuntimeKey
	return (key == "" || key == rt.key) &&
		contains(rt.item.URL, s.URLContains) && contains(rt.item.Title, s.TitleContains)
}

func (s Selector) target() Target {
	if s.Target == nil {
		return Target{}
	}
	return *s.Target
}

func contains(text, part string) bool {
	return part == "" || strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// intent is the evidence of what was looked for: the substring of the url, if nothing else
// was given.
func (s Selector) intent() any {
	if s == (Selector{URLContains: s.URLContains}) && s.URLContains != "" {
		return s.URLContains
	}
	return s
}

// maxCandidates bounds the runtimes of an error's evidence.
const maxCandidates = 8

// candidate is a runtime in an error's evidence.
type candidate struct {
	RuntimeID string `json:"runtime_id"`
	URL       string `json:"url"`
	Host      string `json:"host"`
	Title     string `json:"title"`
}

func candidates(all []*runtime) []candidate {
	out := []candidate{}
	for _, rt := range all[:min(len(all), maxCandidates)] {
		out = append(out, candidate{rt.id, cleanText(rt.item.URL, maxString), rt.host(), cleanText(rt.item.Title, 80)})
	}
	return out
}

// Select returns the one runtime that fits. Without selectors it is the only one. Runtimes
// that wait, were refused or are silent do not count: if one alone fits, the error says so.
func (b *Bridge) Select(s Selector) (Runtime, *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rt, err := b.route(s)
	if err != nil {
		return Runtime{}, err
	}
	return rt.snapshot(), nil
}

// route finds the one runtime that fits. The caller holds b.mu.
func (b *Bridge) route(s Selector) (*runtime, *Error) {
	var fit, others, letIn []*runtime
	for _, rt := range b.sorted() {
		counts := rt.access == accessAllowed && !rt.silent
		if counts {
			letIn = append(letIn, rt)
		}
		switch {
		case !s.fits(rt):
		case counts:
			fit = append(fit, rt)
		default:
			others = append(others, rt)
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return nil, NewError(CodeAmbiguousRuntime, ambiguous{len(fit), candidates(fit)}, "%d pages fit", len(fit))
	case len(others) == 1:
		return nil, others[0].usable()
	}
	return nil, NewError(CodeRuntimeNotFound, notFound{s.intent(), candidates(letIn)}, "no page fits")
}

type ambiguous struct {
	Count      int         `json:"count"`
	Candidates []candidate `json:"candidates"`
}

type notFound struct {
	Intent   any         `json:"intent"`
	Runtimes []candidate `json:"runtimes"`
}

// usable returns why a runtime cannot be called; nil if it can.
func (rt *runtime) usable() *Error {
	switch rt.state() {
	case Waiting:
		return NewError(CodePermissionDenied, map[string]string{"waiting_for": "person"}, "the page waits for a person to let it in")
	case Refused:
		e := NewError(CodePermissionDenied, nil, "a person refused this page")
		recoverable := false
		e.Recoverable, e.NextStep = &recoverable, "work without this page"
		return e
	case Silent:
		return NewError(CodeRuntimeNotReady, map[string]string{"state": "silent"}, "the page has not been heard for 35 seconds")
	case Invalid:
		issues := rt.issues[:min(len(rt.issues), maxCandidates)]
		e := NewError(CodeRuntimeNotReady, map[string]any{"issues": ahp.MustMarshal(issues)}, "the page's manifest is invalid: nothing of it can be called")
		recoverable := false
		e.Recoverable, e.NextStep = &recoverable, "tell the person that the page's manifest is invalid"
		return e
	}
	if (rt.manifest == nil || len(rt.manifest.Actions) == 0) && len(rt.actions) == 0 {
		return NewError(CodeRuntimeNotReady, nil, "the page has not said what can be called")
	}
	return nil
}

// Actions returns what can be called on a runtime, and hidden actions with the reason.
func (b *Bridge) Actions(runtimeID string) ([]Action, *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rt, err := b.route(Selector{RuntimeID: runtimeID})
	if err == nil {
		err = rt.usable()
	}
	if err != nil {
		return nil, err.about("", runtimeID)
	}
	return rt.list(), nil
}
