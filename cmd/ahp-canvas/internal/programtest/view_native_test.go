package programtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/view"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// viewing runs view --native on a file until stop is called, which returns the exit
// status.
func (m *machine) viewing(file string) (out *lockedBuffer, stop func() int) {
	m.t.Helper()
	out = &lockedBuffer{}
	env := &term.Env{Out: out, Err: out, Getenv: m.getenv}
	cmd := view.Command(env)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"--native", file})
	ctx, cancel := context.WithCancel(m.t.Context())
	status := make(chan int, 1)
	go func() { status <- env.Report(cmd.ExecuteContext(ctx)) }()
	stop = func() int { cancel(); return <-status }
	m.t.Cleanup(func() { cancel() })
	return out, stop
}

// getenv returns the machine's environment, for commands that run in this process.
func (m *machine) getenv(name string) string {
	return map[string]string{"XDG_RUNTIME_DIR": m.run}[name]
}

// await follows a channel until its state fits.
func await(t *testing.T, w *client.Watch, what string, fits func(any) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for ev, err := range w.All(ctx) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if fits(ev.State) {
			return
		}
	}
}

func titleAndStatus(state any) (title, status string) {
	if s, ok := state.(canvas.CanvasState); ok && s.Title != nil && s.Status != nil {
		return *s.Title, *s.Status
	}
	return "", ""
}

// TestViewNative has a terminal with the editor, an agent, and a second viewer.
func TestViewNative(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("one <two>\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.ViewToken, Subscriptions: []string{s.Session}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := c.Watch(s.Session)
	defer w.Close()
	listed := func(state any) bool {
		for _, d := range state.(session.State).Canvases {
			if d.CanvasID == "editor" {
				return true
			}
		}
		return false
	}
	out, stop := m.viewing(file)
	await(t, w, "the editor is offered", listed)
	m.do(0, "open", "editor", "--instance", "e1")
	if got := out.String(); !strings.Contains(got, "The agent opened e1:\n  | one <two>\n") {
		t.Errorf("the person sees %q", got)
	}
	channel := ""
	await(t, w, "it is open", func(state any) bool {
		for _, row := range state.(session.State).OpenCanvases {
			channel = row.Channel
		}
		return channel != ""
	})
	w = c.Watch(channel)
	defer w.Close()
	if _, err := c.Subscribe(t.Context(), channel); err != nil {
		t.Fatal(err)
	}
	m.do(0, "invoke", "e1", "replace_text", "--input", `{"find":"one","replace":"three"}`)
	m.do(0, "invoke", "e1", "append", "--input", `{"text":"four\n"}`)
	await(t, w, "not saved", func(state any) bool { _, status := titleAndStatus(state); return status == "not saved" })
	if got := m.do(0, "invoke", "e1", "get_text", "--json"); !strings.Contains(got, `three \u003ctwo\u003e\nfour\n`) && !strings.Contains(got, `three <two>\nfour\n`) {
		t.Errorf("get_text: %s", got)
	}
	m.do(1, "invoke", "e1", "replace_text", "--input", `{"find":"none","replace":""}`)
	if !strings.Contains(m.err, "text_not_unique") {
		t.Errorf("replace_text: %s", m.err)
	}
	content, err := c.ReadResource(t.Context(), channel, canvas.ContentURL("e1", "/"))
	if err != nil || !strings.Contains(string(content.Data), "<pre>three &lt;two&gt;\nfour\n</pre>") {
		t.Errorf("content %s, %v", content.Data, err)
	}
	m.do(0, "invoke", "e1", "save")
	if data, _ := os.ReadFile(file); string(data) != "three <two>\nfour\n" {
		t.Errorf("the file has %q", data)
	}
	await(t, w, "saved", func(state any) bool {
		title, status := titleAndStatus(state)
		return title == "notes.txt" && status == "saved"
	})

	// Another program writes the file.
	if err := os.WriteFile(file, []byte("five\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	await(t, w, "another page", func(state any) bool {
		st, ok := state.(canvas.CanvasState)
		return ok && st.URL != nil && strings.HasSuffix(*st.URL, "v=3")
	})
	// Both change the text: nothing is lost.
	m.do(0, "invoke", "e1", "append", "--input", `{"text":"mine\n"}`)
	if err := os.WriteFile(file, []byte("theirs\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	await(t, w, "both changed", func(state any) bool { _, status := titleAndStatus(state); return status == "changed on disk too" })
	m.do(1, "invoke", "e1", "save")
	if !strings.Contains(m.err, "changed_on_disk") {
		t.Errorf("save: %s", m.err)
	}
	m.do(0, "invoke", "e1", "read")

	w = c.Watch(s.Session)
	defer w.Close()
	m.do(0, "close", "e1")
	if got := stop(); got != 0 || !strings.HasSuffix(out.String(), "e1 was closed.\nThe canvas \"editor\" is removed.\n") {
		t.Errorf("exit status %d\n%s", got, out)
	}
	await(t, w, "the editor is gone", func(state any) bool { return !listed(state) })
}

func TestViewRefuses(t *testing.T) {
	m := newMachine(t)
	m.serve("--state", "memory")
	dir := t.TempDir()
	binary := filepath.Join(dir, "binary")
	if err := os.WriteFile(binary, []byte{0xff}, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		dir: "want a file", binary: "not UTF-8 text", filepath.Join(dir, "none"): "no such file",
	} {
		native := func(env *term.Env) *cobra.Command {
			env.Getenv = m.getenv
			return view.Command(env)
		}
		if status, _, errs := termtest.Run(t, native, "--native", file); status != term.ExitFailed || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", file, status, errs)
		}
	}
	for args, want := range map[string]string{"x": "the link that serve prints", "http://localhost:1/": "no token", "--native": "FILE", "a b": "accepts at most 1"} {
		status, _, errs := termtest.Run(t, view.Command, strings.Fields(args)...)
		if status != term.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("view %s: %d %s", args, status, errs)
		}
	}
}
