package main

import (
	"fmt"
	"slices"
	"strings"
)

// verdict is what a way made of an app.
type verdict struct {
	Opens bool `json:"opens"`
	Works bool `json:"works"`
	// Why has the differences from a direct visit.
	Why []string `json:"why,omitempty"`
	// Known has those that are known, by their reasons.
	Known []string `json:"known,omitempty"`
}

func (v verdict) String() string {
	switch {
	case v.Works:
		return "works"
	case v.Opens:
		return "differs"
	}
	return "does not open"
}

// result is one row of the survey.
type result struct {
	Name string `json:"name"`
	// Failed says why the app could not be shown at all.
	Failed   string          `json:"failed,omitempty"`
	Seen     map[way]seen    `json:"seen,omitempty"`
	Verdicts map[way]verdict `json:"verdicts,omitempty"`
}

// judge compares what was seen in canvases with the direct visits.
func (r *result) judge(all ...known) {
	plain, twice := r.Seen[direct], r.Seen[again]
	if plain.Failed != "" {
		r.Failed = "directly: " + plain.Failed
		return
	}
	if plain.Step != "" {
		r.Failed = "directly: " + plain.Step
		return
	}
	r.Verdicts = map[way]verdict{}
	for _, w := range canvases {
		r.Verdicts[w] = compare(plain, twice, r.Seen[w]).without(all)
	}
}

// without is the verdict but for differences that are known.
func (v verdict) without(all []known) verdict {
	for _, k := range all {
		rest := slices.DeleteFunc(slices.Clone(v.Why), func(why string) bool { return strings.Contains(why, k.Has) })
		if len(rest) < len(v.Why) {
			v.Opens = v.Opens || slices.ContainsFunc(v.Why, isOtherText) && !slices.ContainsFunc(rest, isOtherText)
			v.Why, v.Known = rest, append(v.Known, k.Why)
		}
	}
	v.Works = v.Opens && len(v.Why) == 0
	return v
}

// itShows begins the difference of an app that does not open.
const itShows = "it shows "

func isOtherText(why string) bool { return strings.HasPrefix(why, itShows) }

// compare says how a visit differs from two direct ones.
func compare(plain, twice, s seen) verdict {
	if s.Failed != "" {
		return verdict{Why: []string{s.Failed}}
	}
	v := verdict{Opens: true}
	add := func(format string, args ...any) { v.Why = append(v.Why, fmt.Sprintf(format, args...)) }
	if like := alike(plain.Text, s.Text); like < 0.8 && like < alike(plain.Text, twice.Text) {
		v.Opens = false
		add(itShows+"%.80q instead of %.80q", s.Text, plain.Text)
	}
	if s.Step != "" {
		add("%s", s.Step)
	}
	for _, c := range changed(plain.Controls, s.Controls, changed(plain.Controls, twice.Controls, nil)) {
		add("%s", c)
	}
	for _, e := range s.Errors {
		if !slices.Contains(plain.Errors, e) && !slices.Contains(twice.Errors, e) {
			add("error: %s", e)
		}
	}
	if (plain.Sockets > 0) != (s.Sockets > 0) {
		add("%d WebSockets, directly %d", s.Sockets, plain.Sockets)
	}
	if plain.Storage != s.Storage {
		add("localStorage after a reload: %s, directly %s", s.Storage, plain.Storage)
	}
	v.Works = v.Opens && len(v.Why) == 0
	return v
}

// alike is how many of the words of two texts both have, from 0 to 1.
func alike(a, b string) float64 {
	x, y := words(a), words(b)
	if len(x)+len(y) == 0 {
		return 1
	}
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	return 2 * float64(both) / float64(len(x)+len(y))
}

func words(text string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		all[w] = true
	}
	return all
}

// changed lists the controls that did something else, but for those that are known to.
func changed(plain, other []control, known []string) (all []string) {
	did := map[string]string{}
	for _, c := range other {
		did[c.Name] = c.Effect
	}
	for _, c := range plain {
		now, ok := did[c.Name]
		if !ok {
			now = "not found"
		}
		name := fmt.Sprintf("control %q", c.Name)
		if now != c.Effect && !slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, name) }) {
			all = append(all, fmt.Sprintf("%s: %s, directly %s", name, now, c.Effect))
		}
	}
	return all
}
