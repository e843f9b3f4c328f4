package a2ui_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// core is the official core of A2UI's renderers, in Node.
type core struct {
	in    io.Writer
	lines *bufio.Scanner
	ms    float64 // that it took for all messages
}

func startCore(t *testing.T) *core {
	t.Helper()
	dir := "../../../testcases/typescript"
	_, err := os.Stat(dir + "/node_modules/@a2ui/web_core")
	if _, node := exec.LookPath("node"); node != nil || err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node, or the packages of testcases/typescript, are missing")
		}
		t.Skip("needs node, and 'npm ci' in testcases/typescript")
	}
	cmd := exec.Command("node", "a2ui.mjs")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	c := &core{in: in, lines: bufio.NewScanner(out)}
	c.lines.Buffer(nil, 4<<20)
	return c
}

// state is what a renderer has of a surface.
type state struct {
	Model      ahp.Value            `json:"model"`
	Components map[string]ahp.Value `json:"components"`
	Sync       bool                 `json:"sync"`
}

// send applies messages, or begins again with nil, and returns what the core has.
func (c *core) send(t *testing.T, list []ahp.Value) map[string]state {
	t.Helper()
	line := ahp.MustMarshal(list)
	if list == nil {
		line = ahp.Null
	}
	if _, err := fmt.Fprintf(c.in, "%s\n", line); err != nil {
		t.Fatal(err)
	}
	if !c.lines.Scan() {
		t.Fatalf("the core ended: %v", c.lines.Err())
	}
	var answer struct {
		Surfaces map[string]state `json:"surfaces"`
		Error    string           `json:"error,omitzero"`
		MS       float64          `json:"ms"`
	}
	if err := ahp.Unmarshal(c.lines.Bytes(), &answer); err != nil || answer.Error != "" {
		t.Fatalf("the core: %v %s", err, answer.Error)
	}
	c.ms += answer.MS
	return answer.Surfaces
}

// stateOf returns what our store has.
func stateOf(t *testing.T, s *a2ui.Surfaces) map[string]state {
	t.Helper()
	all := map[string]state{}
	for _, info := range s.List() {
		one := state{Model: s.Model(info.ID), Components: map[string]ahp.Value{}, Sync: info.SendDataModel}
		for _, batch := range s.ReplaySurface(info.ID) {
			for _, raw := range batch {
				var m struct {
					Update struct {
						Components []ahp.Value `json:"components,omitzero"`
						Extra      ahp.Value   `json:",embed"`
					} `json:"updateComponents,omitzero"`
					Extra ahp.Value `json:",embed"`
				}
				if err := ahp.Unmarshal(raw, &m); err != nil {
					t.Fatal(err)
				}
				for _, c := range m.Update.Components {
					var head struct {
						ID    string    `json:"id"`
						Extra ahp.Value `json:",embed"`
					}
					if err := ahp.Unmarshal(c, &head); err != nil {
						t.Fatal(err)
					}
					one.Components[head.ID] = head.Extra
				}
			}
		}
		all[info.ID] = one
	}
	return all
}

func agree(t *testing.T, where string, ours, theirs map[string]state) {
	t.Helper()
	if len(ours) != len(theirs) {
		t.Errorf("%s: we have %d surfaces, the core %d", where, len(ours), len(theirs))
	}
	for id, a := range ours {
		b := theirs[id]
		if a.Model == nil {
			a.Model = ahp.Value("{}")
		}
		if a.Sync != b.Sync || !same(t, a.Model, b.Model) || !same(t, ahp.MustMarshal(a.Components), ahp.MustMarshal(b.Components)) {
			t.Errorf("%s: surface %q: we have\n%s %s\nthe core has\n%s %s", where, id, a.Model, ahp.MustMarshal(a.Components), b.Model, ahp.MustMarshal(b.Components))
		}
	}
}

// same compares values as JavaScript has them: it does not keep the digits of 1188.0.
func same(t *testing.T, a, b ahp.Value) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// edits are updates of a data model that renderers must agree about.
var edits = []string{
	`{"path":"/a/b","value":1}`, `{"path":"/list/0","value":"x"}`, `{"path":"/list/2","value":"z"}`, `{"path":"/list/1"}`, `{"path":"/a/b"}`,
	`{"path":"/n","value":null}`, `{"path":"/m/0/k","value":[1,{"d":2}]}`, `{"path":"/m/0/k/1/d","value":"deep"}`, `{"path":"/t~1u/v~0w","value":true}`,
	`{"path":"/trail/","value":1}`, `{"path":"/","value":{"root":[]}}`, `{"path":"","value":{"again":{}}}`, `{"value":{"absent":1}}`, `{"path":"/absent"}`,
}

// TestCore: npm's own renderer core, fed with what we send to Views, has the same surfaces
// as our store after each message, and after a replay.
func TestCore(t *testing.T) {
	t.Parallel()
	c := startCore(t)
	a2ui.Basic() // compiled once
	files, err := filepath.Glob("testdata/examples/*.json")
	if err != nil || len(files) != 36 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	var took time.Duration
	messages := 0
	follow := func(name string, list []ahp.Value) {
		s := a2ui.NewSurfaces(a2ui.Limits{})
		c.send(t, nil)
		for n, m := range list {
			began := time.Now()
			r := s.Apply("Agent", []ahp.Value{m})
			took += time.Since(began)
			messages++
			if r.Errors != nil {
				t.Fatalf("%s, message %d: %v", name, n, r.Errors)
			}
			agree(t, fmt.Sprintf("%s, message %d", name, n), stateOf(t, s), c.send(t, r.Out))
		}
		ms := c.ms
		c.send(t, nil)
		var last map[string]state
		for _, batch := range s.Replay() {
			last = c.send(t, batch)
		}
		c.ms = ms // of the messages alone
		agree(t, name+", replayed", stateOf(t, s), last)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := a2ui.Messages(raw)
		if err != nil {
			t.Fatal(err)
		}
		follow(filepath.Base(file), list)
	}
	list := []ahp.Value{ahp.Value(`{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"` + a2ui.BasicCatalogID + `","sendDataModel":true}}`)}
	for _, e := range edits {
		list = append(list, ahp.Value(`{"version":"v0.9","updateDataModel":{"surfaceId":"s",`+e[1:]+`}`))
	}
	follow("edits", list)
	t.Logf("%d messages: ours %.3f ms each, the core %.3f ms each", messages, took.Seconds()*1000/float64(messages), c.ms/float64(messages))
}
