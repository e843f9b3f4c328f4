package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// step is one thing that a person does, or sees. Exactly one member is set.
type step struct {
	// Click presses the first visible element of a CSS selector.
	Click string `json:"click,omitempty"`
	// Type types into what has the focus.
	Type string `json:"type,omitempty"`
	// Key presses a key by its name, as in ArrowRight.
	Key string `json:"key,omitempty"`
	// Drag presses at the first point, given as x and y, and releases at the last.
	Drag []float64 `json:"drag,omitempty"`
	// See waits for a text.
	See string `json:"see,omitempty"`
	// True waits for an expression of the app's window.
	True string `json:"true,omitempty"`
	// Edit changes a file of the app while it is shown.
	Edit *edit `json:"edit,omitempty"`
	// Reload reloads the tab.
	Reload bool `json:"reload,omitempty"`
}

// edit replaces a text in a file of the app.
type edit struct{ File, Old, New string }

// clicks is 1 for the mouse events of a click.
func clicks(p *input.DispatchMouseEventParams) { p.ClickCount = 1 }

var keys = map[string]string{
	"Enter": kb.Enter, "Tab": kb.Tab, "Escape": kb.Escape, "Space": " ", "Backspace": kb.Backspace,
	"ArrowRight": kb.ArrowRight, "ArrowLeft": kb.ArrowLeft, "ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown,
}

func (s step) String() string {
	switch {
	case s.Click != "":
		return "click " + s.Click
	case s.Type != "":
		return "type " + s.Type
	case s.Key != "":
		return "key " + s.Key
	case s.Drag != nil:
		return fmt.Sprint("drag ", s.Drag)
	case s.See != "":
		return "see " + s.See
	case s.True != "":
		return "true " + s.True
	case s.Edit != nil:
		return "edit " + s.Edit.File
	}
	return "reload"
}

// play does one step.
func (v *visit) play(s step) error {
	switch {
	case s.Click != "":
		return v.clickOn(s.Click)
	case s.Type != "":
		return v.tab.do(v.tab.ctx, chromedp.KeyEvent(s.Type))
	case s.Key != "":
		key, ok := keys[s.Key]
		if !ok {
			return fmt.Errorf("no key %q", s.Key)
		}
		return v.tab.do(v.tab.ctx, chromedp.KeyEvent(key))
	case len(s.Drag) >= 4:
		return v.tab.press(point{s.Drag[0], s.Drag[1]}, point{s.Drag[2], s.Drag[3]})
	case s.See != "":
		return v.await(fmt.Sprintf("app().document.body.innerText.includes(%q)", s.See))
	case s.True != "":
		return v.await(fmt.Sprintf("app().eval(%q)", s.True))
	case s.Edit != nil:
		return v.edit(s.Edit)
	case s.Reload:
		return v.reload()
	}
	return errors.New("an empty step")
}

// awaitTime limits how long a person waits for something to appear.
const awaitTime = 12 * time.Second

// await waits until an expression is true, also if the app loads another document meanwhile.
func (v *visit) await(expression string) error {
	for end := time.Now().Add(awaitTime); time.Now().Before(end); {
		ok, err := call[bool](v.tab, `async () => {
			for (const end = performance.now() + 2000; performance.now() < end; ) {
				try { if (await (`+expression+`)) return true; } catch {}
				await new Promise((r) => setTimeout(r, 50));
			}
			return false;
		}`)
		if ok {
			return nil
		}
		if err != nil && v.tab.ctx.Err() != nil {
			return err
		}
	}
	said, _ := call[string](v.tab, `() => text().slice(0, 80)`)
	return fmt.Errorf("not seen; it shows %q", said)
}

// clickOn presses an element once it is visible.
func (v *visit) clickOn(selector string) error {
	if err := v.await(fmt.Sprintf(`all(%q).some(visible)`, selector)); err != nil {
		return err
	}
	hit, err := call[spot](v.tab, `(selector) => pointOf(all(selector).find(visible))`, selector)
	if err != nil {
		return err
	}
	if hit.At == nil {
		return errors.New(hit.Why)
	}
	return v.tab.press(*hit.At)
}

// spot is where a control is pressed.
type spot struct {
	At    *point `json:"at"`
	Why   string `json:"why"`
	Typed bool   `json:"typed"`
}

// edit changes a file until the end of the visit.
func (v *visit) edit(e *edit) error {
	name := filepath.Join(v.dir, e.File)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	changed := strings.Replace(string(text), e.Old, e.New, 1)
	if changed == string(text) {
		return fmt.Errorf("%s does not contain %q", e.File, e.Old)
	}
	v.undo = append(v.undo, func() { _ = os.WriteFile(name, text, 0o600) })
	return os.WriteFile(name, []byte(changed), 0o600)
}
