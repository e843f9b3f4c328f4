package main

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/local"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestTable(t *testing.T) {
	tab := table{head: []string{"A", "LONGER"}}
	tab.add("ünï", "x\x1b[31m")
	tab.add("看板", "wide")
	tab.add("", "last")
	var b strings.Builder
	tab.print(&b)
	want := "A     LONGER\nünï   x [31m\n看板  wide\n      last\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		words, want string
	}{
		{"", ""},
		{"one", "one"},
		{"one two2 three", "one, two2,|three"},
		{"much_too_long_a_word two", "much_too_long_a_word,|two"},
	} {
		first, more := wrap(strings.Fields(tc.words), 10)
		if got := strings.Join(append([]string{first}, more...), "|"); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.words, got, tc.want)
		}
	}
}

// nasty drives a terminal in each of the ways: ESC, the one-byte CSI of C1, a line
// begun anew, and writing turned around.
const nasty = "a\x1b[2J\u009b31m\rb\x7f\u202ec\u2028d"

// Nothing that a provider, an extension or a stranger's host says drives the
// terminal of the person who is told of it.
func TestWordsOfOthersDriveNoTerminal(t *testing.T) {
	for name, say := range map[string]func(a *app){
		"a failure's code and words": func(a *app) { a.report(&failure{failf("code"+nasty, "%s", nasty)}) },
		"candidates": func(a *app) {
			a.report(&failure{&canvas.Error{Code: canvas.CodeAmbiguous, Message: "x", Candidates: []string{nasty}}})
		},
		"another failure": func(a *app) { a.report(&failure{errors.New(nasty)}) },
		"wrong usage":     func(a *app) { a.report(&usage{text: nasty}) },
		"notes": func(a *app) {
			_ = a.greet(&started{notes: []string{nasty}, endpoint: endpoint{Link: "link"}}, []string{nasty})
		},
		"what is open": func(a *app) {
			title := nasty
			a.lsTables(nil, []session.OpenCanvasRef{{InstanceID: nasty, CanvasID: nasty, Availability: nasty, Title: &title}})
		},
		"what can be opened": func(a *app) {
			a.lsTables([]session.SessionCanvasDeclaration{{CanvasID: nasty, ExtensionID: nasty, DisplayName: nasty, Actions: []session.SessionCanvasAction{{Name: nasty}}}}, nil)
		},
		"events": func(a *app) {
			_ = a.printEvents(canvas.EventPage{Events: []canvas.Event{{Time: nasty, InstanceID: nasty, Event: ahp.MustMarshal(nasty)}}})
		},
		"a log": func(a *app) { _ = a.printLog(nasty, nasty) },
		"a canvas that is offered": func(a *app) {
			a.offered(local.Canvas{InstanceID: nasty, CanvasID: nasty, Title: nasty, URL: nasty, Availability: nasty})
		},
		"what the editor's agent did": func(a *app) {
			v := &nativeView{out: a.out, handles: map[string]*client.Handle{}, editor: &editor{text: nasty}}
			_, _ = v.Open(t.Context(), canvas.OpenRequest{InstanceID: nasty}, nil)
			v.closed(nasty)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { _ = recover() }() // what is asked after it was said
			var out strings.Builder
			defer func() {
				if at := strings.IndexFunc(strings.ReplaceAll(out.String(), "\n", ""), isControl); at >= 0 || out.Len() == 0 {
					t.Errorf("%q", out.String())
				}
			}()
			say(&app{out: &out, errs: &out})
		})
	}
}

// JSON on a terminal is the same JSON, without what drives it.
func TestPrintableJSON(t *testing.T) {
	was := ahp.MustMarshal(map[string]string{"nasty": nasty, "fine": "ünï 看板"})
	now := printableJSON(string(was))
	if at := strings.IndexFunc(now, isControl); at >= 0 || !strings.Contains(now, "ünï 看板") {
		t.Errorf("%q", now)
	}
	var a, b map[string]string
	if err := errors.Join(json.Unmarshal(was, &a), json.Unmarshal([]byte(now), &b)); err != nil || !maps.Equal(a, b) {
		t.Errorf("%q became %q: %v", a, b, err)
	}
}
