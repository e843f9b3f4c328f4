package extension

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// hints say what a person can do about the reasons for which published extensions do not
// start. They are looked for in the order of the list.
var hints = []struct {
	pattern *regexp.Regexp
	hint    string
}{
	{regexp.MustCompile(`(?i)gh auth login|GH_TOKEN|gh: (command )?not found|spawn gh ENOENT`), "Install GitHub's command line (gh) and run: gh auth login"},
	{regexp.MustCompile(`(?i)playwright install|executable doesn't exist|could not find (chrome|chromium|a browser)|no usable browser`), "Install a browser: Chrome or Chromium, or run: npx playwright install chromium"},
	{regexp.MustCompile(`ERR_UNKNOWN_BUILTIN_MODULE|No such built-in module|ERR_UNKNOWN_FILE_EXTENSION|Unsupported engine|(?i:requires node)|bad option|SyntaxError`), "It probably needs Node.js 22 or newer: install it, and check with: node --version"},
	{regexp.MustCompile(`ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|Cannot find (module|package)`), "Install its packages: run npm install in its folder"},
}

var missingProgram = regexp.MustCompile(`spawn ([A-Za-z0-9._-]{1,64}) ENOENT`)

// hint returns what to install so that an extension that failed can start, or "".
func hint(why error) string {
	if errors.Is(why, exec.ErrNotFound) {
		return "Install Node.js 22 or newer"
	}
	text := why.Error()
	for _, h := range hints {
		if h.pattern.MatchString(text) {
			return h.hint
		}
	}
	if found := missingProgram.FindStringSubmatch(text); found != nil {
		return "Install the program " + found[1]
	}
	return ""
}

// maxReason is how many code points of the reason a card shows.
const maxReason = 160

// reasonText says in two sentences why an extension does not start and what to do: the last
// line of its output that names an error, and the hint.
func reasonText(why error) string {
	lines := strings.Split(why.Error(), "\n")
	reason := lines[0]
	for _, line := range lines[1:] {
		if strings.Contains(line, "Error") || strings.Contains(line, "error:") {
			reason = line
			break
		}
	}
	text := "It does not start: " + ahp.Line(strings.TrimSuffix(strings.TrimSpace(reason), "."), maxReason) + "."
	if h := hint(why); h != "" {
		text += " " + h + "."
	}
	return text
}
