package serve

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// hostNames are the names that --name accepts. They differ from process ids, ports and
// URLs, which --host accepts too.
var (
	hostNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	onlyDigit = regexp.MustCompile(`^[0-9]+$`)
	notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
)

func isHostName(name string) bool { return hostNames.MatchString(name) && !onlyDigit.MatchString(name) }

// checkName rejects a value of --name that --host could not choose.
func (o *options) checkName() error {
	if o.name != "" && !isHostName(o.name) {
		return term.Usagef("--name %q: want at most 64 letters, digits, dots, dashes and underscores, not only digits", o.name)
	}
	return nil
}

// hostName returns the host's name for --host of other commands: that of --name, or one
// that no running host has, after the first canvas that the command line names.
func (s *starting) hostName() (string, error) {
	taken := func(name string) bool {
		return slices.ContainsFunc(s.others, func(h reach.Published) bool { return h.Name == name })
	}
	if s.name != "" {
		if taken(s.name) {
			return "", term.Failf(term.CodeNotStarted, "--name %q: a running host has this name; \"ahp-canvas hosts\" lists them", s.name)
		}
		return s.name, nil
	}
	base := s.defaultName()
	name := base
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name, nil
}

// plainName is the name of a host for which the command line gives no better one.
const plainName = "default"

func (s *starting) defaultName() string {
	name := plainName
	switch {
	case len(s.canvases) > 0:
		name = folderName(s.canvases[0])
	case len(s.urls) > 0:
		name, _, _ = strings.Cut(s.urls[0], "=")
	case len(s.extensions) > 0:
		name = folderName(s.extensions[0])
	case s.options.state == statedir.Memory:
		name = statedir.Memory
	case s.options.state != "":
		name = folderName(s.options.state)
	}
	name = strings.Trim(notInName.ReplaceAllString(name, "-"), ".-_")
	if name = name[:min(len(name), 60)]; !isHostName(name) { // leaves place for a number
		return plainName
	}
	return name
}

func folderName(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return filepath.Base(dir)
	}
	return filepath.Base(abs)
}
