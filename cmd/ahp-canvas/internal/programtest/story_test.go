package programtest

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestStory runs an agent on the MCP client of the TypeScript SDK, over standard streams
// and HTTP, with a person in Chromium: testcases/typescript/agent.mjs is the transcript.
func TestStory(t *testing.T) {
	m := newMachine(t)
	sdk := filepath.Join("..", "..", "..", "..", "testcases", "typescript")
	if _, err := os.Stat(filepath.Join(sdk, "node_modules", "@modelcontextprotocol")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("run 'npm ci' in testcases/typescript")
		}
		t.Skip("the agent was not run: run 'npm ci' in testcases/typescript")
	}
	browser := webtest.Start(t)
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			s := m.serve()
			args := []string{"agent.mjs", "http", s.MCP, s.AgentToken}
			if way == "stdio" {
				args = []string{"agent.mjs", "stdio", binary, "mcp"}
			}
			cmd := exec.CommandContext(t.Context(), "node", args...)
			cmd.Dir, cmd.Env, cmd.Stderr = sdk, m.env, os.Stderr
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			person := &person{t: t, browser: browser, link: s.Link}
			for lines := bufio.NewScanner(out); lines.Scan(); {
				t.Logf("%s", lines.Bytes())
				var line struct{ Step string }
				if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
					t.Errorf("%s: %v", lines.Bytes(), err)
				}
				person.follow(line.Step)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the agent: %v", err)
			}
			if !person.saw {
				t.Error("the story did not reach its end")
			}
			s.stop(syscall.SIGTERM)
		})
	}
}

// person has the page open while the agent works.
type person struct {
	t       *testing.T
	browser *webtest.Browser
	link    string
	tab     *webtest.Page
	frame   *webtest.Page
	saw     bool // the end
}

const storyButton = `document.querySelector("iframe").contentDocument.querySelector("#more")`

// follow does what the person does at a step of the agent.
func (p *person) follow(step string) {
	p.t.Helper()
	switch step {
	case "open":
		p.tab = p.browser.Open(p.t, p.link)
		for p.frame == nil {
			for _, f := range p.tab.Frames(p.t, 2, webtest.ContentFrame) { // the board is open too
				if f.WaitAtMost(time.Second, storyButton) {
					p.frame = f
				}
			}
		}
	case "click", "click again":
		p.frame.Wait(p.t, storyButton+`.onclick && `+storyButton+`.textContent === "0"`)
		clickIn(p.t, p.tab, p.frame, "Counter", "#more")
	case "done":
		p.saw = true
	}
}
