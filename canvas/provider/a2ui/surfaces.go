package a2ui

import (
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Limits bound a Surfaces. A zero field has the default.
type Limits struct {
	Messages     int // of one list; 256
	MessageBytes int // of one message; 60 KiB
	PartBytes    int // of what Replay puts together; 60 KiB
	StringBytes  int // of one string, so that every model can be cut; 32 KiB
	PointerBytes int // of a path; 1 KiB
	Components   int // of a surface; 2,000
	Surfaces     int // 16
	SyncBytes    int // of the models of all surfaces that sync together; 48 KiB
	ModelBytes   int // of any other model; 160 KiB
	TotalBytes   int // of everything; 240 KiB
}

// fill sets the defaults.
func (l Limits) fill() Limits {
	for at, n := range map[*int]int{
		&l.Messages: 256, &l.MessageBytes: 60 << 10, &l.PartBytes: 60 << 10, &l.StringBytes: 32 << 10,
		&l.PointerBytes: 1 << 10, &l.Components: 2000, &l.Surfaces: 16, &l.SyncBytes: 48 << 10,
		&l.ModelBytes: 160 << 10, &l.TotalBytes: 240 << 10,
	} {
		if *at == 0 {
			*at = n
		}
	}
	return l
}

// Surfaces are the surfaces of one renderer, in order of creation. Surface ids are unique
// in it. Make it with [NewSurfaces]; it has no lock.
type Surfaces struct {
	limits   Limits
	catalogs []*Catalog
	list     []*surface
}

// surface is kept as encoded values, which take a fraction of their trees' memory.
type surface struct {
	id, owner, version string
	catalog            *Catalog
	theme              ahp.Value
	sync               bool
	order              []string // ids of components, in order of arrival
	components         map[string]kept
	model              ahp.Value // nil until it is set
	bytes              int       // of components
}

// kept is a component of a surface.
type kept struct {
	raw  ahp.Value
	refs []string // components that it names
}

// size is what a component counts, with the comma behind it.
func (k kept) size() int {
	if k.raw == nil {
		return 0
	}
	return len(k.raw) + 1
}

// NewSurfaces returns a renderer without surfaces, which has the given catalogs, or the
// basic one.
func NewSurfaces(l Limits, catalogs ...*Catalog) *Surfaces {
	if len(catalogs) == 0 {
		catalogs = []*Catalog{Basic()}
	}
	return &Surfaces{limits: l.fill(), catalogs: catalogs}
}

// Info describes a surface.
type Info struct {
	ID            string // of the surface
	Owner         string // who created it
	Version       string // that it was created with
	Components    int    // how many it has
	SendDataModel bool   // whether its model goes to its owner with every message
}

// List describes the surfaces, in order of creation.
func (s *Surfaces) List() (all []Info) {
	for _, f := range s.list {
		all = append(all, f.info())
	}
	return all
}

// Surface describes one surface, and reports whether it exists.
func (s *Surfaces) Surface(id string) (Info, bool) {
	if f := s.find(id); f != nil {
		return f.info(), true
	}
	return Info{}, false
}

func (f *surface) info() Info {
	return Info{ID: f.id, Owner: f.owner, Version: f.version, Components: len(f.components), SendDataModel: f.sync}
}

// Has reports whether a surface has a component.
func (s *Surfaces) Has(surfaceID, componentID string) bool {
	f := s.find(surfaceID)
	if f == nil {
		return false
	}
	_, ok := f.components[componentID]
	return ok
}

// Catalogs returns the ids of the catalogs that the surfaces use.
func (s *Surfaces) Catalogs() (ids []string) {
	for _, f := range s.list {
		if !slices.Contains(ids, f.catalog.id) {
			ids = append(ids, f.catalog.id)
		}
	}
	return ids
}

// Owners returns who owns which surface.
func (s *Surfaces) Owners() Owners {
	o := Owners{}
	for _, f := range s.list {
		o[f.id] = f.owner
	}
	return o
}

// Model returns a surface's data model, {} if it was never set.
func (s *Surfaces) Model(id string) ahp.Value {
	if f := s.find(id); f != nil && f.model != nil {
		return f.model
	}
	return ahp.Value("{}")
}

// Clone returns an independent copy, which shares what never changes.
func (s *Surfaces) Clone() *Surfaces {
	c := &Surfaces{limits: s.limits, catalogs: s.catalogs, list: make([]*surface, len(s.list))}
	for n, f := range s.list {
		copied := *f // updates replace the order, the components and the model
		c.list[n] = &copied
	}
	return c
}

// Clear removes an owner's surfaces.
func (s *Surfaces) Clear(owner string) {
	s.list = slices.DeleteFunc(s.list, func(f *surface) bool { return f.owner == owner })
}

func (s *Surfaces) find(id string) *surface {
	for _, f := range s.list {
		if f.id == id {
			return f
		}
	}
	return nil
}

// Bytes returns the size of everything that is kept.
func (s *Surfaces) Bytes() (n int) {
	for _, f := range s.list {
		n += f.size()
	}
	return n
}

// size is what a surface counts.
func (f *surface) size() int { return f.bytes + len(f.model) + len(f.theme) + 2*len(f.id) + 256 }

// fits says what the surfaces exceed; "" if nothing.
func (s *Surfaces) fits(changed *surface) string {
	sync := 0
	for _, f := range s.list {
		if f.sync {
			sync += len(f.model)
		}
	}
	switch {
	case len(changed.components) > s.limits.Components:
		return "the surface would have more than " + itoa(s.limits.Components) + " components; use several surfaces, or a list with a template"
	case sync > s.limits.SyncBytes:
		return "the models of the surfaces with sendDataModel would have " + itoa(sync) + " bytes together, at most " + itoa(s.limits.SyncBytes) + " are allowed; keep in them what people enter, and put the rest into a surface without sendDataModel"
	case len(changed.model) > s.limits.ModelBytes:
		return "the data model would have " + itoa(len(changed.model)) + " bytes, at most " + itoa(s.limits.ModelBytes) + " are allowed; show a part of the data"
	case s.Bytes() > s.limits.TotalBytes:
		return "all surfaces together would have " + itoa(s.Bytes()) + " bytes, at most " + itoa(s.limits.TotalBytes) + " are allowed; delete a surface, or open another canvas"
	}
	return ""
}
