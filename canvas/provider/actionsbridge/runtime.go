package actionsbridge

import (
	"crypto/sha256"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
)

// State is what can be done with a runtime.
type State string

// The states of a runtime.
const (
	Ready   State = "ready"
	Waiting State = "waiting" // for a person who lets it in
	Refused State = "refused" // by a person
	Invalid State = "invalid" // its manifest breaks a rule
	Silent  State = "silent"  // it has sent nothing for 35 s
	Stale   State = "stale"   // it changed its page and has not reported since
)

// Runtime is a browser page, or another surface, that is connected.
type Runtime struct {
	ID               string       // its runtime_id
	Key              string       // its runtime_key; "" if it has none
	URL              string       // of the page
	Host             string       // of the URL: what a person recognizes
	Title            string       // of the page
	Device           string       // in the runtime's words
	Program          string       // the kind of program that runs it, as in "extension" or "embed"
	ExtensionVersion string       // of that program
	State            State        // what can be done with it
	Scripts          bool         // actions that run scripts are allowed
	Issues           []Issue      // of its manifest
	Actions          int          // how many can be called
	States           []string     // that the page is in
	Attachments      []Attachment // of the page
	Connected        uint64       // a number that increases with each connected runtime
	LastSeen         time.Time    // its last item
	Dropped          int          // events that were not passed on
	Principal        Principal    // who connected it
}

// LetIn reports whether the runtime may be called, when it is ready.
func (r *Runtime) LetIn() bool { return r.State != Waiting && r.State != Refused }

// Kind is what connected.
type Kind string

// The kinds of principals.
const (
	Page      Kind = "page"      // a script of a web page
	Extension Kind = "extension" // of a browser
	Program   Kind = "program"   // anything that is not in a browser
)

// Principal is who is behind a connection.
type Principal struct {
	Kind    Kind   // what it is
	Origin  string // of a page or an extension; "" for a program
	Trusted bool   // it showed the token
}

// access is whether a runtime is let in.
type access int

const (
	accessWaiting access = iota
	accessAllowed
	accessRefused
)

// runtime is a connected runtime. Bridge.mu guards it.
type runtime struct {
	id   string
	conn *Conn
	seq  uint64
	key  string

	item     Item      // what it said about itself last: url, title, states, …
	raw      ahp.Value // the manifest, while the runtime waits
	shared   *compiled // the manifest, once it is let in; nil if it sent none
	manifest *Manifest // with the runtime's own capabilities
	issues   []Issue
	actions  []string // of its newest status

	access   access
	scripts  bool
	silent   bool
	stale    bool
	seen     time.Time
	inFlight int

	tokens  float64 // for events
	filled  time.Time
	dropped int // events
	untold  int // of these, not reported yet
	told    time.Time
}

func (rt *runtime) state() State {
	switch {
	case rt.access == accessWaiting:
		return Waiting
	case rt.access == accessRefused:
		return Refused
	case rt.silent:
		return Silent
	case len(rt.issues) > 0:
		return Invalid
	case rt.stale:
		return Stale
	}
	return Ready
}

// snapshot returns what is known about a runtime. The caller holds Bridge.mu.
func (rt *runtime) snapshot() Runtime {
	r := Runtime{ID: rt.id, Host: rt.host(), State: rt.state(), Connected: rt.seq, LastSeen: rt.seen, Principal: rt.conn.who}
	if !r.LetIn() {
		return r
	}
	r.Key, r.URL, r.Title, r.Device = rt.key, rt.item.URL, rt.item.Title, rt.item.Device
	r.ExtensionVersion, r.Program = rt.item.ExtensionVersion, rt.item.Host
	if rt.manifest != nil && r.Program == "" {
		r.Program = rt.manifest.Host
	}
	r.Scripts, r.Dropped = rt.mayScript(), rt.dropped
	r.Issues, r.States, r.Attachments = rt.issues, rt.item.States, rt.item.Attachments
	r.Actions = len(rt.list())
	return r
}

func (rt *runtime) mayScript() bool { return rt.scripts || rt.conn.b.opts.Scripts }

// host is what a person recognizes: the host of the url, which for a page is that of its
// origin.
func (rt *runtime) host() string {
	if u, err := url.Parse(rt.item.URL); err == nil && u.Host != "" {
		return cleanText(u.Host, maxString)
	}
	scheme, _, _ := strings.Cut(rt.item.URL, ":")
	return cleanText(scheme, maxString)
}

// list returns the actions: the tools, and the names of the status that are no tools.
func (rt *runtime) list() []Action {
	var out []Action
	if rt.manifest != nil {
		for _, a := range rt.manifest.Actions {
			a, _ = rt.manifest.Action(a.Name)
			out = append(out, a)
		}
	}
	for _, name := range rt.actions {
		if _, declared := rt.manifest.Action(name); declared || !SafeName(name) || len(rt.issues) > 0 {
			continue
		}
		a := Action{Name: name, Debug: debugName(name) || rt.manifest.class(name) == "debug"}
		if rt.manifest != nil {
			c := rt.manifest.capabilities[name]
			a.Support, a.Reason = c.Support, c.Reason
		}
		out = append(out, a)
	}
	return out
}

// about updates what a runtime says about itself, and reports whether that changed.
func (rt *runtime) about(item Item) (changed bool) {
	set := func(to *string, v string) {
		if v != "" && *to != v {
			*to, changed = v, true
		}
	}
	set(&rt.item.URL, item.URL)
	set(&rt.item.Title, item.Title)
	set(&rt.item.Device, item.Device)
	set(&rt.item.Host, item.Host)
	set(&rt.item.ExtensionVersion, item.ExtensionVersion)
	if item.States != nil && !slices.Equal(item.States, rt.item.States) {
		rt.item.States, changed = item.States, true
	}
	if item.Attachments != nil && !slices.Equal(item.Attachments, rt.item.Attachments) {
		rt.item.Attachments, changed = item.Attachments, true
	}
	if item.Actions != nil && !slices.Equal(item.Actions, rt.actions) {
		rt.actions, changed = item.Actions, true
	}
	return changed
}

// originOf returns the origin of a page's address.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	scheme := strings.ToLower(u.Scheme)
	if port != "" && !(scheme == "http" && port == "80") && !(scheme == "https" && port == "443") {
		host += ":" + port
	}
	return scheme + "://" + host
}

// manifests keeps compiled manifests by their hash, shared by the runtimes that sent them,
// and the last few that no runtime has any more. Bridge.mu guards it.
type manifests struct {
	byHash map[[sha256.Size]byte]*compiled
	unused [][sha256.Size]byte
}

// maxUnused bounds the manifests that no runtime has.
const maxUnused = 16

// compiled is a manifest, once compile has returned.
type compiled struct {
	hash   [sha256.Size]byte
	raw    ahp.Value
	once   sync.Once
	m      *Manifest
	issues []Issue
	users  int
}

// compile reads the manifest if that has not been done. It takes time, so the caller does
// not hold Bridge.mu.
func (c *compiled) compile(memory *jsonschema.Memory) {
	c.once.Do(func() {
		c.m, c.issues = readManifest(c.raw, memory)
		c.raw = nil
	})
}

func (s *manifests) init() { s.byHash = map[[sha256.Size]byte]*compiled{} }

// use returns a manifest that the caller compiles and releases.
func (s *manifests) use(v ahp.Value) *compiled {
	hash := sha256.Sum256(v)
	c := s.byHash[hash]
	if c == nil {
		c = &compiled{hash: hash, raw: v}
		s.byHash[hash] = c
	}
	if c.users == 0 {
		s.unused = slices.DeleteFunc(s.unused, func(h [sha256.Size]byte) bool { return h == hash })
	}
	c.users++
	return c
}

// release is called once for each use; c can be nil.
func (s *manifests) release(c *compiled) {
	if c == nil {
		return
	}
	if c.users--; c.users > 0 {
		return
	}
	if s.unused = append(s.unused, c.hash); len(s.unused) > maxUnused {
		delete(s.byHash, s.unused[0])
		s.unused = s.unused[1:]
	}
}
