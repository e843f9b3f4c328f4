package programtest

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestAAPForeignAgent: an agent on the MCP client of the TypeScript SDK writes a page and gets
// the person's click; testcases/typescript/aap.mjs is the transcript. Then curl posts one.
func TestAAPForeignAgent(t *testing.T) {
	m, dir := newMachine(t), filepath.Join(t.TempDir(), "canvas")
	sdk := filepath.Join("..", "..", "..", "..", "testcases", "typescript")
	if _, err := os.Stat(filepath.Join(sdk, "node_modules", "@modelcontextprotocol")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("run 'npm ci' in testcases/typescript")
		}
		t.Skip("the agent was not run: run 'npm ci' in testcases/typescript")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := m.serve("--aap-agent", "builder="+dir, "--aap-open", "none")
	cmd := exec.CommandContext(t.Context(), "node", "aap.mjs", s.MCP, s.AgentToken)
	cmd.Dir, cmd.Env, cmd.Stderr = sdk, m.env, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var line struct{ Step string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("%s: %v", lines.Bytes(), err)
		}
		if last = line.Step; last == "click" {
			pressApprove(t, s.Link)
		}
	}
	if err := cmd.Wait(); err != nil || last != "done" {
		t.Errorf("the agent ended at %q: %v", last, err)
	}
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	address := strings.TrimSuffix(s.Page, "/") + "/api/agents/builder/canvas/interactions"
	posted, err := exec.Command(curl, "-sS", "-H", "Authorization: Bearer "+s.ViewToken, "-d", `{"action":"click","element":"by curl","canvasFile":"ship.html"}`, address).CombinedOutput()
	if err != nil || !strings.Contains(string(posted), `"summary":"User click 'by curl' on ship.html"`) {
		t.Errorf("curl posts: %s, %v", posted, err)
	}
	listed, err := exec.Command(curl, "-sS", "-H", "Authorization: Bearer "+s.ViewToken, address+"?limit=1").CombinedOutput()
	if err != nil || !strings.Contains(string(listed), `"element":"by curl"`) || strings.Contains(string(listed), "approve") {
		t.Errorf("curl lists: %s, %v", listed, err)
	}
}

// pressApprove presses the button of the page as a person does.
func pressApprove(t *testing.T, link string) {
	t.Helper()
	const button = `document.querySelector("iframe")?.contentDocument?.querySelector("button[onclick]")`
	tab := webtest.Start(t).Open(t, link)
	// One of the frames can be replaced while the page mounts, so they are listed each time.
	var found *webtest.Page
	untilTrue(t, "button in the page", func() bool {
		for _, f := range tab.Frames(t, 2, func(u *url.URL) bool { return u.Path == "/.ahp/frame.html" }) { // the list of pages is open too
			if webtest.Eval[bool](t, f, `Boolean(`+button+`)`) {
				found = f
			}
		}
		return found != nil
	})
	// The button can be parsed before the page's bridge has loaded.
	found.Wait(t, `document.querySelector("iframe").contentDocument.readyState === "complete"`)
	webtest.Eval[any](t, found, button+`.focus()`)
	found.Keys(t, "\r")
}
