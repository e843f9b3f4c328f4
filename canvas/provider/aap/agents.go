package aap

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

const (
	registryName    = "registry.json"
	maxRegistry     = 16 << 20        // bytes
	registryRefresh = 1 * time.Second // between looks at the registry
	maxAgents       = 4096
)

// Agent is a program that writes pages and reads records. It is a folder.
type Agent struct {
	// ID is unique, and a safe name of a folder.
	ID string `json:"id"`
	// Name is for people; it can stand for the id.
	Name string `json:"name"`
	// Alias can stand for the id too; "" if there is none.
	Alias string `json:"alias,omitzero"`

	dir string // the canvas folder
}

// RecordPath returns the path of a record's file.
func (a Agent) RecordPath(r Record) string { return filepath.Join(a.dir, folder, r.FileName()) }

// agents knows the agents of a root, and those that a program names.
type agents struct {
	root  string // "" if there is none
	fixed []Agent
	now   func() time.Time
	note  func(text string, args ...any)

	mu      sync.Mutex
	looked  time.Time
	version fileVersion // of the registry that list is from
	list    []Agent
}

// fileVersion identifies the content of a file, unless it changes within the clock's
// resolution.
type fileVersion struct {
	size int64
	at   time.Time
	ok   bool // the file exists
}

// registryEntry is an agent in registry.json. Other members are ignored.
type registryEntry struct {
	ID        string    `json:"id,omitzero"`
	Name      string    `json:"name,omitzero"`
	Alias     string    `json:"alias,omitzero"`
	DeletedAt ahp.Value `json:"deletedAt,omitzero"`
}

// all returns the agents, the program's own first.
func (g *agents) all() []Agent {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.now(); g.looked.IsZero() || now.Sub(g.looked) >= registryRefresh || now.Before(g.looked) {
		g.looked = now
		g.refresh()
	}
	return g.list
}

// refresh reads the registry if it has changed, or else the root's folders. mu is held.
func (g *agents) refresh() {
	var version fileVersion
	if g.root != "" {
		if info, err := os.Stat(filepath.Join(g.root, registryName)); err == nil {
			version = fileVersion{info.Size(), info.ModTime(), true}
		}
	}
	if g.list != nil && version.ok && version == g.version {
		return
	}
	changed := g.list == nil || version != g.version
	g.version = version
	found := slices.Clone(g.fixed)
	if version.ok {
		entries, problem := g.readRegistry(version)
		if problem == "" {
			g.list = g.distinct(append(found, entries...), changed)
			return
		}
		if changed {
			g.note("the registry of agents is ignored: " + problem)
		}
	}
	g.list = g.distinct(append(found, g.folders()...), changed)
}

// readRegistry returns the agents of registry.json, or why it cannot be used.
func (g *agents) readRegistry(version fileVersion) (list []Agent, problem string) {
	if version.size > maxRegistry {
		return nil, "it has more than 16 MiB"
	}
	f, err := os.Open(filepath.Join(g.root, registryName))
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxRegistry))
	if err != nil {
		return nil, reason(err)
	}
	return parseRegistry(raw, g.root)
}

// parseRegistry decodes a registry. Entries that are no agents are left out.
func parseRegistry(raw []byte, root string) (list []Agent, problem string) {
	var entries []ahp.Value
	if ahp.Unmarshal(raw, &entries) != nil {
		return nil, "it is not a JSON array"
	}
	for _, raw := range entries {
		var e registryEntry
		deleted := func() bool { k := e.DeletedAt.Kind(); return k != 0 && k != 'n' }
		if raw.Kind() != '{' || ahp.Unmarshal(raw, &e) != nil || deleted() || !safeID(e.ID) {
			continue
		}
		list = append(list, Agent{e.ID, clean(cmp.Or(e.Name, e.ID)), clean(e.Alias), filepath.Join(root, e.ID, "canvas")})
	}
	return list, ""
}

// folders returns an agent for each folder of the root.
func (g *agents) folders() (list []Agent) {
	if g.root == "" {
		return nil
	}
	entries, _ := os.ReadDir(g.root) // without a root there are no agents
	for _, e := range entries {
		if e.IsDir() && safeID(e.Name()) {
			list = append(list, Agent{ID: e.Name(), Name: e.Name(), dir: filepath.Join(g.root, e.Name(), "canvas")})
		}
	}
	return list
}

// distinct drops agents whose id an earlier one has, and limits their number.
func (g *agents) distinct(list []Agent, report bool) []Agent {
	ids, names, out := map[string]bool{}, map[string]bool{}, []Agent{}
	for _, a := range list {
		if ids[a.ID] || len(out) == maxAgents {
			continue
		}
		ids[a.ID] = true
		out = append(out, a)
		for _, name := range slices.Compact([]string{strings.ToLower(a.Name), strings.ToLower(a.Alias)}) {
			if name != "" && names[name] && report {
				g.note("two agents have one name; the first keeps it")
			}
			names[name] = true
		}
	}
	return out
}

// find returns the agent with an id, or else with a name or an alias.
func (g *agents) find(name string) (Agent, bool) {
	list := g.all()
	for _, a := range list {
		if a.ID == name {
			return a, true
		}
	}
	for _, a := range list {
		if name != "" && (strings.EqualFold(a.Name, name) || strings.EqualFold(a.Alias, name)) {
			return a, true
		}
	}
	return Agent{}, false
}

// safeID reports whether an id is one segment of a path, on every system.
func safeID(id string) bool {
	return ValidPath(id) && !strings.ContainsAny(id, "/:*?\"<>|") && len(id) <= 255
}
