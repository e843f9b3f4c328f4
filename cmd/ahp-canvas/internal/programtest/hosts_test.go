package programtest

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOneCanvasOfTwoHosts checks which of two running hosts a command takes: the one that has the
// canvas, and none if both have it.
func TestOneCanvasOfTwoHosts(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	notes := filepath.Join(t.TempDir(), "notes")
	m.do(0, "new", notes)
	m.serve("--state", "memory", "--canvas", notes)
	m.serve("--state", "memory", "--name", "newest")

	m.do(1, "open", "board", "--instance", "sprint")
	const both = `host_ambiguous: 2 running hosts have the canvas "board": newest and notes` + "\n  Choose one with --host newest or --host notes.\n"
	if !strings.HasSuffix(m.err, both) {
		t.Errorf("%s, want %s", m.err, both)
	}
	m.do(1, "describe", "board", "--json")
	var failed struct{ Candidates []string }
	if json.Unmarshal([]byte(m.err), &failed) != nil || strings.Join(failed.Candidates, " ") != "newest notes" {
		t.Errorf("--json: %s", m.err)
	}

	var opened struct{ InstanceID string }
	if err := json.Unmarshal([]byte(m.do(0, "open", "notes", "--json")), &opened); err != nil || !regexp.MustCompile(`^notes-[2-9a-z]{4}$`).MatchString(opened.InstanceID) {
		t.Errorf("open: %s, %v", m.lastOut, err)
	}
	if out := m.do(0, "describe", "notes"); !strings.Contains(out, "notes  ") || !strings.Contains(out, "Input:") {
		t.Errorf("describe: %s", out)
	}
	m.do(0, "open", "board", "--host", "notes", "--instance", "sprint", "-f", "title=Sprint 12")
	if out := m.do(0, "invoke", "sprint", "add_card", "-f", "list=To do", "-f", "title=12"); !strings.Contains(out, "{") {
		t.Errorf("invoke: %s", out)
	}
	m.do(0, "open", "board", "--host", "newest", "--instance", "sprint")
	m.do(1, "close", "sprint")
	if !strings.Contains(m.err, `the open canvas "sprint"`) {
		t.Error(m.err)
	}
	m.do(0, "close", "sprint", "--host", "newest")
	m.do(0, "close", "sprint")
	m.do(1, "close", "sprint") // no host has it
	if !strings.Contains(m.err, "canvas_instance_not_found") {
		t.Error(m.err)
	}
}

// TestVersionJSON checks that version has the members that bug reports need.
func TestVersionJSON(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	var b struct{ Version, Go, OS, Arch string }
	if err := json.Unmarshal([]byte(m.do(0, "version", "--json")), &b); err != nil || b.Version == "" || b.Go == "" || b.OS == "" || b.Arch == "" {
		t.Errorf("%s: %v", m.lastOut, err)
	}
}
