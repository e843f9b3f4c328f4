package aap

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Limits are the limits of a Store. A field of zero stands for the default.
type Limits struct {
	// Rate is the number of interactions a second and agent; 50.
	Rate int
	// Burst is how many interactions an agent can get at once; 200.
	Burst int
	// Records is the number of records of an agent; 100,000.
	Records int
	// PageBytes is the size of a page; 8 MiB.
	PageBytes int
}

func (l Limits) withDefaults() Limits {
	l.Rate, l.Burst = cmp.Or(l.Rate, 50), cmp.Or(l.Burst, 200)
	l.Records, l.PageBytes = cmp.Or(l.Records, 100_000), cmp.Or(l.PageBytes, 8<<20)
	return l
}

// Options configures a Store. Root or Agents is required.
type Options struct {
	// Root has a folder for each agent, and perhaps a registry.json. It must exist.
	Root string
	// Agents are further agents: the canvas folder of each, by name.
	Agents map[string]string
	// Limits limits what agents and people can store.
	Limits Limits
	// Now is the clock, for tests; the default is time.Now.
	Now func() time.Time
	// NewID returns the ids of records; the default is a random UUID.
	NewID func() string
	// Logger receives failures: no summary, path or payload. Nil discards them.
	Logger *slog.Logger
}

// Store has the pages and records of agents. Make it with [Open]. Its methods may be
// called concurrently, and by several processes on one folder.
type Store struct {
	agents *agents
	limits Limits
	now    func() time.Time
	newID  func() string
	logger *slog.Logger
	watch  *watch

	mu      sync.Mutex
	shelves map[string]*shelf // by agent id
	notes   []string
	closed  bool
}

// Open returns the store of the agents below a root, and of those that are named. It
// changes nothing on the disk, except that it removes temporary files of crashed writers
// that are a day old. Close ends it.
func Open(o Options) (*Store, error) {
	s := &Store{limits: o.Limits.withDefaults(), now: o.Now, newID: o.NewID, logger: o.Logger, shelves: map[string]*shelf{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.newID == nil {
		s.newID = uuid.NewString
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.agents = &agents{now: s.now, note: s.note}
	if err := s.setRoot(o.Root); err != nil {
		return nil, err
	}
	if err := s.setAgents(o.Agents); err != nil {
		return nil, err
	}
	for _, a := range s.agents.all() {
		s.collectGarbage(a)
	}
	s.watch = newWatch(s)
	return s, nil
}

func (s *Store) setRoot(root string) error {
	if root == "" {
		return nil
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return fmt.Errorf("aap: %w", err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return fmt.Errorf("aap: %q is not a folder of agents; create it, or name an existing one", root)
	}
	s.agents.root = abs
	return nil
}

func (s *Store) setAgents(dirs map[string]string) error {
	names := make([]string, 0, len(dirs))
	for name := range dirs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !safeID(name) {
			return fmt.Errorf("aap: agent name %q must be one segment of a path", name)
		}
		abs, err := filepath.Abs(dirs[name])
		if err != nil {
			return fmt.Errorf("aap: %w", err)
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return fmt.Errorf("aap: the canvas folder %q of agent %q is not a folder; create it", dirs[name], name)
		}
		s.agents.fixed = append(s.agents.fixed, Agent{ID: name, Name: name, dir: abs})
	}
	return nil
}

// note keeps a remark for the person who started the program, and logs it.
func (s *Store) note(text string, args ...any) {
	s.logger.Warn("aap: "+text, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notes) < 64 {
		s.notes = append(s.notes, text)
	}
}

// Notes returns remarks about the agents' root, such as a registry that cannot be read.
func (s *Store) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

// Agents returns all agents.
func (s *Store) Agents() []Agent { return slices.Clone(s.agents.all()) }

// Agent returns the agent with an id, a name or an alias; names and aliases in any case.
func (s *Store) Agent(idNameOrAlias string) (Agent, error) {
	if a, ok := s.agents.find(idNameOrAlias); ok {
		return a, nil
	}
	return Agent{}, unknownAgent(idNameOrAlias)
}

// Close ends the watch and waits for it. Interactions that are being stored are finished.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.watch.close()
	return nil
}

// openRoot opens an agent's canvas folder. With create it is made if it does not exist.
func (s *Store) openRoot(a Agent, create bool) (*os.Root, error) {
	root, err := os.OpenRoot(a.dir)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err = os.MkdirAll(a.dir, 0o700); err == nil {
			root, err = os.OpenRoot(a.dir)
		}
	}
	return root, err
}

// garbageAge is the age at which a temporary file cannot belong to a running writer.
const garbageAge = 24 * time.Hour

// collectGarbage removes what crashed writers left.
func (s *Store) collectGarbage(a Agent) {
	root, err := s.openRoot(a, false)
	if err != nil {
		return
	}
	defer root.Close()
	entries, _ := fs.ReadDir(root.FS(), folder)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && s.now().Sub(info.ModTime()) > garbageAge {
			_ = root.Remove(folder + "/" + e.Name()) // it does no harm
		}
	}
}

// reason returns an error without the path in it.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Op + ": " + pe.Err.Error()
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Op + ": " + le.Err.Error()
	}
	return err.Error()
}

// Now returns the store's time.
func (s *Store) Now() time.Time { return s.now() }
