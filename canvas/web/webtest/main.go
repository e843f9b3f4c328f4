package webtest

import (
	"flag"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Main runs a package's tests with one browser for each set of flags. Call it from
// TestMain: os.Exit(webtest.Main(m)). In Chromium each test still has its own tabs,
// cookies and storage; a browser that crashed is started again. Parallel tests run at
// least three at a time, because they wait more than they compute.
func Main(m *testing.M) int {
	flag.Parse()
	if n := flag.Lookup("test.parallel"); n.Value.String() == n.DefValue && runtime.GOMAXPROCS(0) < 3 {
		_ = n.Value.Set("3")
	}
	shared.on = true
	defer shared.stop()
	return m.Run()
}

// shared are the browsers of a package that uses Main.
var shared browsers

type browsers struct {
	on bool // set by Main before the tests

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

// stop ends the browsers, then removes their profiles.
func (s *browsers) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.ends) - 1; i >= 0; i-- {
		s.ends[i]()
	}
}
