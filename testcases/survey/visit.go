package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/chromedp"
)

// way is how an app is reached.
type way string

const (
	direct  way = "direct"
	again   way = "again" // directly too, for what varies anyway
	inPage  way = "page"  // through the channel
	near    way = "listener"
	relayed way = "relay"
)

// canvases are the ways in which an app is a canvas.
var canvases = []way{inPage, near, relayed}

// seen is what happened in one visit.
type seen struct {
	// Failed says why the app did not appear.
	Failed string `json:"failed,omitempty"`
	// At is the origin of a canvas's frame.
	At string `json:"at,omitempty"`
	// Text is what it showed after the steps, without numbers.
	Text string `json:"text,omitempty"`
	// Step is the step that failed, and why.
	Step string `json:"step,omitempty"`
	// Controls are those that were pressed.
	Controls []control `json:"controls,omitempty"`
	// Errors are those of the console and the network.
	Errors  []string `json:"errors,omitempty"`
	Sockets int64    `json:"sockets"`
	Dialogs int      `json:"dialogs"`
	// Storage is "kept" if localStorage outlasted a reload, "empty" or what went wrong.
	Storage string `json:"storage,omitempty"`
}

// control is a control that was pressed: effect is "changed", "nothing", or why it was not.
type control struct {
	Name   string `json:"name"`
	Effect string `json:"effect"`
}

// visit is one visit of an app.
type visit struct {
	tab  *tab
	dir  string
	undo []func()
}

// do visits an app at an address: its own, or that of a page with its canvas.
func do(browser context.Context, a *app, address string, canvas bool) (s seen) {
	t, err := newTab(browser, canvas)
	if err != nil {
		s.Failed = err.Error()
		return s
	}
	defer t.close()
	v := &visit{tab: t, dir: a.dir}
	defer func() {
		for _, f := range v.undo {
			f()
		}
	}()
	if err := v.open(address); err != nil {
		s.Failed = err.Error()
		return s
	}
	s.At = t.frameURL
	note := func() {
		said, err := t.errors()
		if err != nil {
			said = []string{"the errors cannot be read: " + err.Error()}
		}
		s.Errors = append(s.Errors, said...)
	}
	for i, step := range a.Steps {
		if step.Reload {
			note()
		}
		if err := v.play(step); err != nil {
			s.Step = fmt.Sprintf("step %d (%s): %v", i+1, step, err)
			break
		}
	}
	s.Text, _ = call[string](t, "() => text()")
	if a.Controls > 0 && s.Step == "" {
		s.Controls = v.crawl(a.Controls)
	}
	note()
	slices.Sort(s.Errors)
	s.Errors = slices.Compact(s.Errors)
	s.Storage = v.storage()
	s.Dialogs = t.dialogs
	return s
}

// open opens the app and waits until it shows something.
func (v *visit) open(address string) error {
	if err := v.tab.do(v.tab.ctx, chromedp.Navigate(address)); err != nil {
		return err
	}
	return v.shown()
}

func (v *visit) shown() error {
	if err := v.tab.find(); err != nil {
		return err
	}
	if err := v.await(`app().document.readyState === "complete" && app().location.href !== "about:blank" && app().document.body.querySelector("*")`); err != nil {
		return err
	}
	_, err := call[bool](v.tab, "() => quiet(5000)")
	return err
}

func (v *visit) reload() error {
	if err := v.tab.do(v.tab.ctx, chromedp.Reload()); err != nil {
		return err
	}
	return v.shown()
}

// storage says what becomes of localStorage in a reload.
func (v *visit) storage() string {
	const set = `() => { app().localStorage.setItem("survey", "kept"); return new Promise((r) => setTimeout(r, 300)); }`
	if _, err := call[any](v.tab, set); err != nil {
		return general(err.Error())
	}
	if err := v.reload(); err != nil {
		return "after a reload: " + general(err.Error())
	}
	kept, err := call[string](v.tab, `() => app().localStorage.getItem("survey") ?? "empty"`)
	if err != nil {
		return general(err.Error())
	}
	return kept
}

// crawl presses the first controls of the app.
func (v *visit) crawl(most int) []control {
	var done []control
	pressed := map[string]bool{}
	home, _ := call[string](v.tab, `() => app().location.href`)
	for len(done) < most {
		names, err := call[[]string](v.tab, `() => controls().map((c) => c.name)`)
		if err != nil {
			return append(done, control{"the controls", general(err.Error())})
		}
		next := ""
		for _, name := range names {
			if !pressed[name] {
				next = name
				break
			}
		}
		if next == "" {
			return done
		}
		pressed[next] = true
		done = append(done, control{next, v.try(next)})
		_, _ = call[any](v.tab, `async (home) => {
			if (app().location.href.split("#")[0] === home.split("#")[0]) return;
			app().location.href = home;
			await new Promise((r) => setTimeout(r, 300));
			await quiet(3000);
		}`, home)
	}
	return done
}

// try presses a control and says what it did.
func (v *visit) try(name string) string {
	hit, err := call[spot](v.tab, `(name) => { const c = controls().find((c) => c.name === name); return c ? pointOf(c.el) : { why: "gone" }; }`, name)
	if err != nil {
		return general(err.Error())
	}
	if hit.At == nil {
		return hit.Why
	}
	before, err := call[string](v.tab, `() => state()`)
	if err == nil {
		err = v.tab.press(*hit.At)
	}
	if err == nil && hit.Typed {
		err = v.tab.do(v.tab.ctx, chromedp.KeyEvent("ab"))
	}
	if err == nil {
		_, err = call[bool](v.tab, `() => quiet(2000)`)
	}
	after := ""
	if err == nil {
		after, err = call[string](v.tab, `() => state()`)
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "deadline"):
		return "hangs"
	case err != nil:
		return general(err.Error())
	case before == after:
		return "nothing"
	}
	return "changed"
}
