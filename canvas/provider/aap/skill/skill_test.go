package skill_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/skill"
)

// TestText: the triggers, the vocabulary and every template are in the text.
func TestText(t *testing.T) {
	text := skill.Text()
	for _, want := range []string{
		`"show me"`, `"display"`, `"visualize"`, `"report on"`, `"dashboard for"`, `"let me configure"`, `"let me approve"`, `"compare"`,
		"`click`", "`submit`", "`change`", "`select`", "`toggle`", "`dismiss`", "`navigate`", "`custom`",
		"[CANVAS] ", "wait_for_canvas_events", "passwords",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the skill does not have %s", want)
		}
	}
	if !strings.HasPrefix(text, "---\nname: canvas-actions\ndescription: ") {
		t.Error("the skill has no front matter")
	}
	for _, name := range skill.Templates {
		if page := skill.Template(name); !strings.Contains(page, `id="page-data"`) || !strings.Contains(page, "maestro.send(") || !strings.Contains(text, page) {
			t.Errorf("%s is not in the skill, or is no data-driven page", name)
		}
	}
}
