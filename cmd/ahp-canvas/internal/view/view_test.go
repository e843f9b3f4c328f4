package view

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/local"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestEditorFollowsTheFile checks the status of the editor as file and text change, and that unsaved
// text is kept.
func TestEditorFollowsTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	out := &termtest.Buffer{}
	e, err := openEditor(file, out)
	if err != nil {
		t.Fatal(err)
	}
	invoke := func(action, input string) error {
		_, err := e.app().Invoke(t.Context(), action, ahp.Value(input))
		return err
	}
	want := func(text, status string) {
		t.Helper()
		e.checkDisk()
		if s := e.summary(); e.text != text || s.status != status {
			t.Errorf("%q %s, want %q %s", e.text, s.status, text, status)
		}
	}
	want("a", "saved")
	write("b")
	want("b", "saved")
	_ = invoke("append", `{"text":"c"}`)
	want("bc", "not saved")
	write("d")
	want("bc", "changed on disk too")
	if invoke("save", "") == nil {
		t.Error("overwrote what another program wrote")
	}
	write("b")
	want("bc", "not saved")
	if err := invoke("save", ""); err != nil {
		t.Error(err)
	}
	want("bc", "saved")
	os.Remove(file)
	want("bc", "changed on disk too")
}

// TestLinkOnStandardInput checks that a link can be read from standard input, because
// other users can read command lines.
func TestLinkOnStandardInput(t *testing.T) {
	want := link{ahp: "ws://localhost:8080/ahp", token: "secret", session: "ahp-session:/default"}
	for in, refused := range map[string]string{
		"http://localhost:8080/#tkn=secret\n":       "",
		"  http://localhost:8080/#tkn=secret":       "",
		"http://localhost:8080/#tkn=secret\nmore\n": "",
		"":                         "no link on standard input",
		"\n":                       "no link on standard input",
		"http://localhost:8080/\n": "has no token",
		strings.Repeat("x", 2*maxLink) + "#tkn=s\n": "as in http://",
	} {
		env := &term.Env{In: io.NopCloser(strings.NewReader(in))}
		got, err := resolveLink(env, reach.Target{}, "-")
		switch {
		case refused == "" && (err != nil || got != want):
			t.Errorf("%.40q: %v, %v", in, got, err)
		case refused != "" && (err == nil || !strings.Contains(err.Error(), refused)):
			t.Errorf("%.40q: %v, want %q", in, err, refused)
		}
	}
}

// TestTheKeyOfALink: a key that is cut or changed is an error, and not a link without one.
func TestTheKeyOfALink(t *testing.T) {
	const link = "https://relay.example/#tkn=s&host=laptop"
	key := seal.NewKey().Public()
	if got, err := parseLink(link + "&key=" + key.String()); err != nil || got.seal == nil || *got.seal != (seal.Identity{Host: "laptop", Key: key}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseLink(link); err != nil || got.seal != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", key.String()[:42], key.String() + "A", "%20"} {
		if got, err := parseLink(link + "&key=" + bad); err == nil {
			t.Errorf("key %q: %+v", bad, got)
		}
	}
	at, err := parseLink(link)
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[ws.CloseCode]string{ws.CodeSealBroken: "is not passing on", ws.CodeSealNeeded: "has no key"} {
		if err := at.explain(&ws.CloseError{Code: code, Remote: true}); !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestLinkUnderAPrefix checks the links of a host or a relay that a proxy has under a path.
func TestLinkUnderAPrefix(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.example/team/#tkn=s":             "wss://a.example/team/ahp",
		"https://a.example/team/#tkn=s&host=laptop": "wss://a.example/team/ahp/laptop",
	} {
		if got, err := parseLink(text); err != nil || got.ahp != want {
			t.Errorf("%s: %s, %v, want %s", text, got.ahp, err, want)
		}
	}
	err := (link{ahp: "wss://a.example/team/ahp/laptop"}).explain(&ws.HandshakeError{Status: 403})
	if !strings.Contains(err.Error(), `for the host "laptop"`) {
		t.Error(err)
	}
}

// TestCutLink checks the errors for a link of a relay that a shell cut at its &: it still
// has the token, but names no host.
func TestCutLink(t *testing.T) {
	for path, want := range map[string]string{"/ahp": "put it in quotes", "/ahp/laptop": `for the host "laptop"`} {
		if err := (link{ahp: "wss://relay.example" + path}).explain(&ws.HandshakeError{Status: 403}); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestOutputDrivesNoTerminal checks that no text of a provider or an agent drives the
// terminal.
func TestOutputDrivesNoTerminal(t *testing.T) {
	const hostile = termtest.Hostile
	for name, print := range map[string]func(env *term.Env){
		"a canvas that is offered": func(env *term.Env) {
			printCanvas(env, local.Canvas{InstanceID: hostile, CanvasID: hostile, Title: hostile, URL: hostile, Availability: session.CanvasAvailability(hostile)})
		},
		"what the agent did in the editor": func(env *term.Env) {
			v := &nativeView{out: env.Out, handles: map[string]*canvas.Handle{}, editor: &editor{text: hostile}}
			_, _ = v.Open(t.Context(), canvas.OpenRequest{InstanceID: hostile}, nil)
			v.closed(hostile)
		},
	} {
		t.Run(name, func(t *testing.T) { termtest.PrintsSafely(t, print) })
	}
}

// TestOtherOrigins: the line of a canvas says that what it loads from other origins is missing.
func TestOtherOrigins(t *testing.T) {
	for shown, want := range map[local.Canvas]bool{{InstanceID: "a", OtherOrigins: true}: true, {InstanceID: "a"}: false, {InstanceID: "a", OtherOrigins: true, Closed: true}: false} {
		var out strings.Builder
		printCanvas(&term.Env{Out: &out}, shown)
		if got := strings.Contains(out.String(), "loads nothing from other origins here"); got != want {
			t.Errorf("%+v: %s", shown, out.String())
		}
	}
}
