package drive

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestOutputDrivesNoTerminal checks that no text of a provider, an extension or an unknown
// host drives the terminal.
func TestOutputDrivesNoTerminal(t *testing.T) {
	hostile := termtest.Hostile
	for name, print := range map[string]func(env *term.Env){
		"what is open": func(env *term.Env) {
			printTables(env, nil, []session.OpenCanvasRef{{InstanceID: hostile, CanvasID: hostile, Availability: session.CanvasAvailability(hostile), Title: &hostile}})
		},
		"what can be opened": func(env *term.Env) {
			printTables(env, []session.SessionCanvasDeclaration{{CanvasID: hostile, ExtensionID: hostile, DisplayName: hostile, Actions: []session.SessionCanvasAction{{Name: hostile}}}}, nil)
		},
		"events": func(env *term.Env) {
			_ = printEvents(env, canvas.EventPage{Events: []canvas.Event{{Time: hostile, InstanceID: hostile, Event: ahp.MustMarshal(hostile)}}})
		},
		"a log": func(env *term.Env) { _ = printLog(env, hostile, hostile) },
	} {
		t.Run(name, func(t *testing.T) { termtest.PrintsSafely(t, print) })
	}
}
