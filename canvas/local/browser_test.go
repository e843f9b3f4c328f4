package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestBoardInABrowser: a canvas that uses view/1 works at its loopback url, also in
// another app's frame.
func TestBoardInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newStage(t, nil)
	c := s.open("board")
	tab := webtest.Start(t).Open(t, c.URL)
	tab.Wait(t, `document.body.innerText.includes("To do")`)
	tab.Wait(t, `[...document.querySelectorAll("button")].find((b) => b.textContent.includes("Add a card"))?.click() ?? true`)
	tab.Keys(t, "Milk\r")
	tab.Wait(t, `document.body.innerText.includes("Milk")`)
	value, err := s.host.Canvases().Invoke(t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "board", ActionName: "get_board"})
	if err != nil || !strings.Contains(string(value), "Milk") {
		t.Errorf("the host has %s, %v", value, err)
	}
	if _, err := s.host.Canvases().Invoke(t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "board", ActionName: "add_card",
		Input: []byte(`{"list":"To do","title":"From the agent"}`)}); err != nil {
		t.Fatal(err)
	}
	tab.Wait(t, `document.body.innerText.includes("From the agent")`)
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "local.png"), tab.Screenshot(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
