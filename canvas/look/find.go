package look

import (
	"fmt"
	"os/exec"
)

// Auto and None are values of the program's option: find a browser, and use none.
const (
	// Auto finds a browser with [Find].
	Auto = "auto"
	// None uses no browser.
	None = "none"
)

// Programs are the names under which Chromium and Chrome are installed.
var Programs = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// Find returns the path of a browser for an option: [Auto], [None] or a path. It is ""
// without an error if no browser is wanted or, for Auto, installed.
func Find(option string) (string, error) {
	switch option {
	case None:
		return "", nil
	case Auto, "":
		for _, name := range Programs {
			if path, err := exec.LookPath(name); err == nil {
				return path, nil
			}
		}
		return "", nil
	}
	path, err := exec.LookPath(option)
	if err != nil {
		return "", fmt.Errorf("look: browser %q: %w", option, err)
	}
	return path, nil
}
