package testcases

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// notTheSurface are words that contain "canvas" but do not need the Canvas
	// surface: an unknown capability, and the name of an agent.
	notTheSurface = strings.NewReplacer(`"capabilities":{"canvas":{}}`, "", `"provider":"canvas"`, "")
	laterVersions = regexp.MustCompile(`"protocolVersions":\[[^\]]*"(1\.|0\.9\.|0\.10\.)`)
	ofTheDemo     = regexp.MustCompile(`"(extensionId|canvasId)":"(demo|other|counter|broken|hang|evil)"|\["\$\*","\$\*"`)
	ofAProvider   = regexp.MustCompile(`"canvasProviders":`)
)

// neededBy returns what the steps of a transcript need of a host.
func neededBy(tr *Transcript) []string {
	has := map[string]bool{}
	for _, s := range tr.Steps {
		text := notTheSurface.Replace(s.Text)
		has[NeedsCanvas] = has[NeedsCanvas] || strings.Contains(strings.ToLower(text), "canvas")
		has[NeedsProvider] = has[NeedsProvider] || ofAProvider.MatchString(text)
		has[NeedsDemo] = has[NeedsDemo] || ofTheDemo.MatchString(text)
		has[NeedsLater] = has[NeedsLater] || laterVersions.MatchString(text)
		switch s.Op {
		case OpAgentCall:
			has[NeedsAgent] = true
		case OpHost:
			has[NeedsHost] = true
		case OpClock:
			has[NeedsClock] = true
		case OpOpen:
			has[NeedsTokens] = has[NeedsTokens] || s.Text != ""
		}
	}
	var needs []string
	for _, word := range []string{NeedsCanvas, NeedsAgent, NeedsProvider, NeedsDemo, NeedsTokens, NeedsClock, NeedsHost, NeedsLater} {
		if has[word] {
			needs = append(needs, word)
		}
	}
	return needs
}

// TestTranscriptNeeds checks that the needs line of each case has exactly what
// its steps use.
func TestTranscriptNeeds(t *testing.T) {
	for _, tr := range transcripts(t) {
		if want, have := neededBy(tr), tr.Needs(); !slices.Equal(want, have) {
			t.Errorf("%s: want '# needs: %s', got '%s'", tr.Name, strings.Join(want, " "), strings.Join(have, " "))
		}
	}
}

func TestHeader(t *testing.T) {
	tr, err := ParseTranscript("x", "# title: t\n# rule: SHOULD canvas/PROTOCOL.md section 3\n# needs: canvas agent\n<!")
	if err != nil {
		t.Fatal(err)
	}
	if tr.Level() != Should || tr.Place() != "canvas/PROTOCOL.md section 3" || !slices.Equal(tr.Needs(), []string{NeedsCanvas, NeedsAgent}) {
		t.Errorf("got %q, %q, %q", tr.Level(), tr.Place(), tr.Needs())
	}
}
