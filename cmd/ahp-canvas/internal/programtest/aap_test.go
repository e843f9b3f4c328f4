package programtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// click posts an interaction of a person, and returns the status and the record's id.
func (s *server) click(agent, token, body string) (status int, id string, err error) {
	req, err := http.NewRequest("POST", strings.TrimSuffix(s.Page, "/")+"/api/agents/"+agent+"/canvas/interactions", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	var answer struct{ ID string }
	_ = json.Unmarshal(raw, &answer) // the status says whether it is one
	return resp.StatusCode, answer.ID, err
}

// untilTrue waits for a condition that other processes fulfill.
func untilTrue(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// TestAAPReadme follows the README of the package: its host, and its script, which prints
// the line that a person's click gives.
func TestAAPReadme(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	found := regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(text(t, "canvas/provider/aap/README.md"), -1)
	if len(found) != 2 {
		t.Fatalf("the README has %d scripts", len(found))
	}
	setup, serve, _ := strings.Cut(strings.TrimSpace(found[0][1]), "\n")
	prepare := exec.Command("sh", "-c", setup)
	prepare.Dir = dir
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	m.via = []string{"sh", "-c", `cd "$0" && exec "$@"`, dir}
	s := m.serve(strings.Fields(strings.TrimPrefix(serve, "ahp-canvas serve "))...)
	if strings.Count(strings.TrimSpace(found[1][1]), "\n") > 10 {
		t.Error("the script has more than ten lines")
	}
	ask := exec.Command("sh", "-c", found[1][1])
	ask.Dir = dir
	var out bytes.Buffer
	ask.Stdout = &out
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ask.Process.Kill() })
	b := webtest.Start(t)
	tab := b.Open(t, s.Link)
	var frame *webtest.Page
	tab.Wait(t, `document.body.textContent.includes("Deploy version 1.4?")`)
	untilTrue(t, "the page's frame", func() bool {
		for _, f := range tab.Frames(t, 1, webtest.ContentFrame) {
			if f.WaitAtMost(time.Second, `document.querySelector("iframe").contentDocument.querySelector("h1")?.textContent === "Deploy version 1.4?"`) {
				frame = f
				return true
			}
		}
		return false
	})
	webtest.Eval[bool](t, frame, `(document.querySelector("iframe").contentDocument.querySelector("button").click(), true)`)
	if err := ask.Wait(); err != nil {
		t.Error(err)
	}
	if want := "[CANVAS] deploy.html: User click 'deploy' on deploy.html with data: {\"yes\":true}\n"; out.String() != want {
		t.Errorf("the script prints %q, want %q", out.String(), want)
	}
	m.via = nil
	if list := m.do(0, "ls"); !strings.Contains(list, "aap-page") || !strings.Contains(list, "aap-pages") {
		t.Errorf("ls: %s", list)
	}
	if listed := m.do(0, "invoke", "aap-pages", "list_interactions"); !strings.Contains(listed, "deploy.html") {
		t.Errorf("invoke: %s", listed)
	}
	// The roles of AAP's API: an agent reads, and does not click.
	for token, want := range map[string]int{s.ViewToken: 201, s.AgentToken: 403, "none": 401} {
		if status, _, err := s.click("builder", token, `{"action":"a","canvasFile":"deploy.html"}`); err != nil || status != want {
			t.Errorf("status %d, %v, want %d", status, err, want)
		}
	}
	if noise := s.noise(); strings.Contains(noise, "deploy") || strings.Contains(noise, dir) {
		t.Errorf("the log has the page: %s", noise)
	}
}

// TestAAPFlags: what no host can start with.
func TestAAPFlags(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	for _, args := range [][]string{
		{"--aap", filepath.Join(dir, "none")}, {"--aap-agent", "x"}, {"--aap-agent", "a/b=" + dir}, {"--aap-agent", "a=" + filepath.Join(dir, "none")},
		{"--aap-agent", "a=" + dir, "--aap-agent", "a=" + dir}, {"--aap-open", "none"}, {"--aap-notify", "cat"},
		{"--aap", dir, "--aap-open", "some"}, {"--aap", dir, "--aap-notify", "no-such-program"},
	} {
		m.do(2, append([]string{"serve"}, args...)...)
		if !strings.Contains(m.err, "--aap") {
			t.Errorf("%q: %s", args, m.err)
		}
	}
	if out := m.do(0, "aap", "skill"); !strings.HasPrefix(out, "---\nname: canvas-actions\n") || !strings.Contains(out, "### tree.html") {
		t.Errorf("aap skill: %.200s", out)
	}
}

// TestAAPKill kills a host under 64 posting clients: every record that it answered is a
// whole file afterwards, and no half file has the name of a record.
func TestAAPKill(t *testing.T) {
	m, root := newMachine(t), t.TempDir()
	const agents = 8 // each takes 50 a second for long
	var names []string
	for n := range agents {
		dir := filepath.Join(root, fmt.Sprint("agent-", n))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(dir))
	}
	var mu sync.Mutex
	answered := map[string]string{} // agents, by id
	n, files := runs(10, 200), 0
	for range n {
		s := m.serve("--aap", root, "--aap-open", "none")
		var wg sync.WaitGroup
		for c := range 64 {
			wg.Go(func() {
				for k := 0; ; k++ {
					body := fmt.Sprintf(`{"action":"click","element":"c%d-%d","canvasFile":"p.html","data":{"pad":%q}}`, c, k, strings.Repeat("x", rand.N(4000)))
					status, id, err := s.click(names[c%agents], s.ViewToken, body)
					if err != nil {
						return // it was killed
					}
					if status == 201 {
						mu.Lock()
						answered[id] = names[c%agents]
						mu.Unlock()
					}
				}
			})
		}
		after(50*time.Millisecond + rand.N(300*time.Millisecond))
		_ = s.cmd.Process.Kill()
		<-s.done
		wg.Wait()
	}
	have := map[string]string{}
	for _, name := range names {
		records, _ := filepath.Glob(filepath.Join(root, name, "canvas", "interactions", "*.json"))
		for _, file := range records {
			raw, err := os.ReadFile(file)
			var r struct{ ID, Summary string }
			if err != nil || json.Unmarshal(raw, &r) != nil || r.Summary == "" || !strings.HasSuffix(file, "-"+r.ID+".json") {
				t.Errorf("%s is half a record: %.100s, %v", filepath.Base(file), raw, err)
			}
			have[r.ID] = name
			files++
		}
	}
	lost := 0
	for id, name := range answered {
		if have[id] != name {
			lost++
		}
	}
	t.Logf("%d kills: %d answers, %d files, %d answered records were lost", n, len(answered), files, lost)
	if lost > 0 || len(answered) < 10*n {
		t.Errorf("%d of %d answered records were lost", lost, len(answered))
	}
}

// approvals is a page whose button says how often it was pressed.
const approvals = `<!doctype html><title>Approvals</title><button onclick="maestro.send('click', 'approve-' + ++n, { n })">Approve</button><script>let n = 0</script>`

// TestAAPRelayKilled: a person on the other side of a relay presses a button, and the relay
// is killed between the press and the answer: each press is one record.
func TestAAPRelayKilled(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	tokens, key := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "key.json")
	made := m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")
	if err := os.WriteFile(key, []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"relay", "--listen", "127.0.0.1:" + freePort(t), "--tokens", tokens}
	relay := m.start(args...)
	p := approvalsOf(m, dir, "--relay", strings.TrimSpace(relay.line), "--relay-token-file", key)
	p.pressAndKill(t, webtest.Start(t), runs(3, 50), func() {
		relay.kill()
		relay = m.start(args...)
	})
}

// pressing is a host with the page of approvals.
type pressing struct{ pages, link string }

// approvalsOf starts a host that shows the page of approvals.
func approvalsOf(m *machine, dir string, args ...string) pressing {
	m.t.Helper()
	pages := filepath.Join(dir, "canvas")
	if err := os.Mkdir(pages, 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pages, "approval.html"), []byte(approvals), 0o644); err != nil {
		m.t.Fatal(err)
	}
	s := m.serve(append(args, "--aap-agent", "builder="+pages, "--open", "aap-pages")...)
	m.do(0, "open", "aap-page", "--input", `{"file":"approval.html"}`)
	m.do(0, "close", "aap-pages")
	return pressing{pages, s.Link}
}

// pressAndKill presses the button n times, with an interruption after each press, and once
// more.
func (p pressing) pressAndKill(t *testing.T, b *webtest.Browser, n int, interrupt func()) {
	tab := b.Open(t, p.link)
	frame := tab.Frames(t, 1, func(u *url.URL) bool { return u.Path == "/.ahp/frame.html" })[0]
	const button = `document.querySelector("iframe").contentDocument.querySelector("button")`
	frame.Wait(t, button)
	records := func() []string {
		found, _ := filepath.Glob(filepath.Join(p.pages, "interactions", "*.json"))
		return found
	}
	press := func() { webtest.Eval[bool](t, frame, `(`+button+`.click(), true)`) }
	for k := range n {
		press()
		after(rand.N(6 * time.Millisecond)) // the press is somewhere on its way
		interrupt()
		untilTrue(t, fmt.Sprint("record ", k+1), func() bool { return len(records()) >= k+1 })
		frame.Wait(t, `document.querySelector("iframe").contentDocument.querySelector("aap-bar") === null`)
	}
	press()
	untilTrue(t, "last record", func() bool { return len(records()) == n+1 })
	seen := map[string]bool{}
	for _, file := range records() {
		raw, err := os.ReadFile(file)
		var r struct{ Element string }
		if err != nil || json.Unmarshal(raw, &r) != nil || seen[r.Element] {
			t.Errorf("%s: %s, %v", filepath.Base(file), raw, err)
		}
		seen[r.Element] = true
	}
	t.Logf("%d interruptions between press and answer: %d records of %d presses", n, len(seen), n+1)
	if len(seen) != n+1 {
		t.Errorf("%d records of %d presses", len(seen), n+1)
	}
}
