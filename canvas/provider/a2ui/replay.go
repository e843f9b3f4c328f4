package a2ui

import (
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// messageRest is what a message has beside what is put into it, in bytes, at least.
const messageRest = 512

// Replay returns the messages that draw the present surfaces, in order of creation, as
// batches of at most Limits.PartBytes, without the brackets of a list. A single message is
// never larger.
func (s *Surfaces) Replay() [][]ahp.Value { return s.replay(s.list) }

// ReplaySurface is Replay for one surface.
func (s *Surfaces) ReplaySurface(id string) [][]ahp.Value {
	if f := s.find(id); f != nil {
		return s.replay([]*surface{f})
	}
	return nil
}

func (s *Surfaces) replay(list []*surface) (batches [][]ahp.Value) {
	size := 0
	for _, f := range list {
		for _, m := range s.messagesOf(f) {
			if len(batches) == 0 || size+len(m) > s.limits.PartBytes {
				batches, size = append(batches, nil), 0
			}
			last := len(batches) - 1
			batches[last] = append(batches[last], m)
			size += len(m) + 1
		}
	}
	return batches
}

// body is a server-to-client message.
type body struct {
	Version          string      `json:"version"`
	CreateSurface    *creation   `json:"createSurface,omitzero"`
	UpdateComponents *components `json:"updateComponents,omitzero"`
	UpdateDataModel  *dataUpdate `json:"updateDataModel,omitzero"`
}

type creation struct {
	SurfaceID     string    `json:"surfaceId"`
	CatalogID     string    `json:"catalogId"`
	Theme         ahp.Value `json:"theme"`
	SendDataModel bool      `json:"sendDataModel,omitzero"`
}

type components struct {
	SurfaceID  string      `json:"surfaceId"`
	Components []ahp.Value `json:"components"`
}

type dataUpdate struct {
	SurfaceID string    `json:"surfaceId"`
	Path      string    `json:"path"`
	Value     ahp.Value `json:"value"`
}

// messagesOf returns the messages that draw a surface: its data before its components, so
// that nothing is drawn empty first.
func (s *Surfaces) messagesOf(f *surface) []ahp.Value {
	all := []ahp.Value{ahp.MustMarshal(body{Version: f.version, CreateSurface: &creation{f.id, f.catalog.id, f.theme, f.sync}})}
	data, _ := s.cutModel(f) // setModel has checked it
	all = append(all, data...)
	var list []ahp.Value
	size := 0
	flush := func() {
		if len(list) > 0 {
			all = append(all, ahp.MustMarshal(body{Version: f.version, UpdateComponents: &components{f.id, list}}))
		}
		list, size = nil, 0
	}
	room := s.limits.PartBytes - s.rest(f)
	for _, id := range f.order {
		raw := f.components[id].raw
		if size+len(raw)+1 > room {
			flush()
		}
		list, size = append(list, raw), size+len(raw)+1
	}
	flush()
	return all
}

// rest is what a message of a surface has beside its content.
func (s *Surfaces) rest(f *surface) int { return messageRest + 2*len(f.id) }

// cutModel returns the messages that set a surface's model, and whether each fits a part.
func (s *Surfaces) cutModel(f *surface) (all []ahp.Value, ok bool) {
	if f.model == nil {
		return nil, true
	}
	c := cutter{surface: f, limit: s.limits.PartBytes - s.rest(f)}
	if len(f.model) <= c.limit {
		c.add("/", f.model)
		return c.out, true
	}
	tree, err := decode(f.model)
	if err != nil {
		return nil, false
	}
	ok = c.cut("", tree)
	return c.out, ok
}

// cutter cuts a model into messages.
type cutter struct {
	surface *surface
	limit   int
	out     []ahp.Value
}

func (c *cutter) add(path string, value ahp.Value) bool {
	if path == "" {
		path = "/"
	}
	c.out = append(c.out, ahp.MustMarshal(body{Version: c.surface.version, UpdateDataModel: &dataUpdate{c.surface.id, path, value}}))
	return len(path)+len(value) <= c.limit
}

// cut adds a value at a path: at once if it fits, otherwise its container with as many
// members as fit, and then the others.
func (c *cutter) cut(path string, tree any) bool {
	raw := encode(tree)
	if len(path)+len(raw) <= c.limit {
		return c.add(path, raw)
	}
	switch v := tree.(type) {
	case map[string]any:
		return c.cutObject(path, v)
	case []any:
		return c.cutArray(path, v)
	}
	return c.add(path, raw)
}

func (c *cutter) cutObject(path string, v map[string]any) bool {
	first, rest := map[string]any{}, []string{}
	room := c.limit - len(path) - 2
	for _, key := range sortedKeys(v) {
		size := len(encode(key)) + len(encode(v[key])) + 2
		if key == "" || forbidden(key) || size <= room && size <= c.limit/4 {
			first[key] = v[key] // a pointer cannot reach the first two
			room -= size
		} else {
			rest = append(rest, key)
		}
	}
	ok := c.add(path, encode(first))
	for _, key := range rest {
		ok = c.cut(path+pointer(key), v[key]) && ok
	}
	return ok
}

func (c *cutter) cutArray(path string, v []any) bool {
	n, room := 0, c.limit-len(path)-2
	for ; n < len(v); n++ {
		if room -= len(encode(v[n])) + 1; room < 0 {
			break
		}
	}
	ok := c.add(path, encode(slices.Clone(v[:n])))
	for ; n < len(v); n++ {
		ok = n <= maxIndex && c.cut(path+pointer(itoa(n)), v[n]) && ok
	}
	return ok
}

// saved is what Save keeps of a surface.
type saved struct {
	ID         string      `json:"id"`
	Owner      string      `json:"owner"`
	Version    string      `json:"version"`
	Catalog    string      `json:"catalog"`
	Theme      ahp.Value   `json:"theme"`
	Sync       bool        `json:"sync,omitzero"`
	Components []ahp.Value `json:"components,omitzero"`
	Model      ahp.Value   `json:"model,omitzero"`
}

// Save returns everything for Load.
func (s *Surfaces) Save() ahp.Value {
	all := make([]saved, 0, len(s.list))
	for _, f := range s.list {
		v := saved{ID: f.id, Owner: f.owner, Version: f.version, Catalog: f.catalog.id, Theme: f.theme, Sync: f.sync, Model: f.model}
		for _, id := range f.order {
			v.Components = append(v.Components, f.components[id].raw)
		}
		all = append(all, v)
	}
	return ahp.MustMarshal(all)
}

// Load replaces the surfaces with saved ones. Surfaces of a catalog that is no longer
// known are left out.
func (s *Surfaces) Load(v ahp.Value) error {
	var all []saved
	if err := ahp.Unmarshal(v, &all); err != nil {
		return err
	}
	s.list = nil
	for _, v := range all {
		i := slices.IndexFunc(s.catalogs, func(c *Catalog) bool { return c.id == v.Catalog })
		if i < 0 {
			continue
		}
		f := &surface{id: v.ID, owner: v.Owner, version: v.Version, catalog: s.catalogs[i], theme: v.Theme, sync: v.Sync, model: v.Model, components: map[string]kept{}}
		for _, raw := range v.Components {
			tree, err := decode(raw)
			if err != nil {
				return err
			}
			m := object(tree)
			id := str(m, "id")
			f.order, f.bytes = append(f.order, strings.Clone(id)), f.bytes+len(raw)+1
			f.components[id] = kept{raw.Clone(), f.catalog.children(m)}
		}
		s.list = append(s.list, f)
	}
	return nil
}
