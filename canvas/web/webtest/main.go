package webtest

import (
	"os"
	"strings"
	"sync"
	"testing"
)

// Main runs a package's tests with one browser for all that want the same flags:
// call it from TestMain, as in os.Exit(webtest.Main(m)). A test still has tabs,
// cookies and storage of its own; a browser that died is started again.
func Main(m *testing.M) int {
	shared.on = true
	defer shared.stop()
	return m.Run()
}

// shared are the browsers of a package whose TestMain is Main.
var shared = browsers{kind: Chromium}

type browsers struct {
	on   bool // set before any test runs
	kind Kind // that Start starts

	mu      sync.Mutex
	byFlags map[string]*Browser
	ends    []func()
}

func (s *browsers) start(kind Kind, exe string, more []string) (*Browser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.Join(append([]string{string(kind)}, more...), " ")
	if b := s.byFlags[key]; b != nil && !b.engine.ended() {
		return b, nil
	}
	profile, err := os.MkdirTemp("", "webtest-")
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() { _ = os.RemoveAll(profile) })
	e, err := kinds[kind].launch(exe, profile, more)
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, e.close)
	if s.byFlags == nil {
		s.byFlags = map[string]*Browser{}
	}
	s.byFlags[key] = &Browser{kind, e}
	return s.byFlags[key], nil
}

// stop ends the browsers, and removes their profiles after them.
func (s *browsers) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.ends) - 1; i >= 0; i-- {
		s.ends[i]()
	}
}
