package aapcanvas

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// Limits of an action's value, which must fit 64 KiB.
const (
	valueBytes  = 60 << 10
	keptData    = 4 << 10 // data above it is left out of lists
	defaultPage = 20      // records of a list
	chunkBytes  = 48 << 10
)

// input is the input of every action. The host has validated it against the action's
// schema.
type input struct {
	Agent  string    `json:"agent,omitzero"`
	File   string    `json:"file,omitzero"`
	Limit  int       `json:"limit,omitzero"`
	Before string    `json:"before,omitzero"`
	ID     string    `json:"id,omitzero"`
	HTML   string    `json:"html,omitzero"`
	Note   string    `json:"note,omitzero"`
	Offset int       `json:"offset,omitzero"`
	Data   ahp.Value `json:"data,omitzero"`
}

var actions = map[string]func(p *Provider, a aap.Agent, in input) (any, error){
	"list_interactions": listInteractions,
	"get_interaction":   getInteraction,
	"list_pages":        listPages,
	"write_page":        writePage,
	"read_page":         readPage,
	"delete_page":       deletePage,
	"push":              push,
	"acknowledge":       acknowledge,
}

// Invoke runs an action of the page's own agent and file.
func (i *page) Invoke(_ context.Context, action string, raw ahp.Value) (ahp.Value, error) {
	agent, file := i.shown()
	in, err := readInput[input](raw)
	if err != nil {
		return nil, err
	}
	in.File = file
	return i.p.act(action, agent, in)
}

// Invoke runs an action of the agent that the input names.
func (l *list) Invoke(_ context.Context, action string, raw ahp.Value) (ahp.Value, error) {
	in, err := readInput[input](raw)
	if err != nil {
		return nil, err
	}
	l.p.mu.Lock()
	name := l.agent
	l.p.mu.Unlock()
	if in.Agent != "" {
		name = in.Agent
	}
	agent, err := l.p.agent(name)
	if err != nil {
		return nil, canvasError(err)
	}
	return l.p.act(action, agent, in)
}

func (p *Provider) act(action string, agent aap.Agent, in input) (ahp.Value, error) {
	do := actions[action]
	if do == nil {
		return nil, canvas.Errorf(canvas.CodeNoHandler, "this canvas has no action %q", action)
	}
	out, err := do(p, agent, in)
	if err != nil {
		return nil, canvasError(err)
	}
	if raw, ok := out.(ahp.Value); ok {
		return raw, nil
	}
	return ahp.Marshal(out)
}

func listInteractions(p *Provider, a aap.Agent, in input) (any, error) {
	q := aap.Query{Limit: defaultPage, Before: in.Before, File: in.File}
	if in.Limit > 0 {
		q.Limit = in.Limit
	}
	if q.File != "" && !aap.ValidPath(q.File) {
		return nil, &aap.Error{Code: aap.CodeInvalidRequest, Message: "Invalid file path", Field: "file"}
	}
	records, more, err := p.store.List(a.ID, q)
	if err != nil {
		return nil, err
	}
	for n, r := range records {
		records[n] = trim(r, keptData)
	}
	list := fit(records, valueBytes-8<<10)
	acks := p.store.Acknowledgments(a.ID, idsOf(list)...)
	for id, ack := range acks {
		ack.Note = aap.OneLine(ack.Note, 20)
		acks[id] = ack
	}
	if len(acks) == 0 {
		acks = nil
	}
	return struct {
		Interactions []ahp.Value                   `json:"interactions"`
		More         bool                          `json:"more"`
		Acknowledged map[string]aap.Acknowledgment `json:"acknowledged,omitzero"`
	}{list, more || len(list) < len(records), acks}, nil
}

func getInteraction(p *Provider, a aap.Agent, in input) (any, error) {
	r, err := p.store.Record(a.ID, in.ID)
	if err != nil {
		return nil, err
	}
	if len(r) > 64<<10 { // another writer's
		r = trim(r, keptData)
	}
	return r, nil
}

// trimmed is a record whose data might be left out.
type trimmed struct {
	Data    ahp.Value `json:"data,omitzero"`
	Omitted bool      `json:"dataOmitted,omitzero"`
	Extra   ahp.Value `json:",embed"`
}

// maxTrimmed is the limit of a record without its data.
const maxTrimmed = 16 << 10

// trim leaves out data above a limit, and of an enormous record everything but the id.
func trim(r ahp.Value, limit int) ahp.Value {
	var t trimmed
	if ahp.Unmarshal(r, &t) != nil {
		return ahp.Value(`{"dataOmitted":true}`)
	}
	if len(t.Data) > limit {
		t.Data, t.Omitted = nil, true
		r = ahp.MustMarshal(t)
	}
	if len(r)-len(t.Data) > maxTrimmed {
		ids := idsOf([]ahp.Value{r})
		return ahp.MustMarshal(struct {
			ID      string `json:"id"`
			Omitted bool   `json:"dataOmitted"`
		}{aap.OneLine(ids[0], 128), true})
	}
	return r
}

// idsOf returns the ids of records; "" for one without.
func idsOf(records []ahp.Value) []string {
	ids := make([]string, len(records))
	for n, r := range records {
		var m struct {
			ID ahp.Value `json:"id,omitzero"`
		}
		if ahp.Unmarshal(r, &m) == nil && m.ID.Kind() == '"' {
			_ = ahp.Unmarshal(m.ID, &ids[n]) // it is a string
		}
	}
	return ids
}

// agentPage is a page in the answer of list_pages.
type agentPage struct {
	File       string `json:"file"`
	Bytes      int64  `json:"bytes"`
	ModifiedAt string `json:"modifiedAt"`
}

func listPages(p *Provider, a aap.Agent, _ input) (any, error) {
	pages, err := p.store.Pages(a.ID)
	if err != nil {
		return nil, err
	}
	all := make([]agentPage, len(pages))
	for n, pg := range pages {
		all[n] = agentPage{pg.Path, pg.Size, pg.ModifiedAt.UTC().Format(time.RFC3339)}
	}
	list := fit(all, valueBytes)
	return struct {
		Protocol string      `json:"protocol"`
		Agent    string      `json:"agent"`
		Pages    []agentPage `json:"pages"`
		More     bool        `json:"more"`
	}{aap.Protocol, a.ID, list, len(list) < len(all)}, nil
}

func writePage(p *Provider, a aap.Agent, in input) (any, error) {
	pg, created, err := p.store.WritePage(a.ID, in.File, []byte(in.HTML))
	if err != nil {
		return nil, err
	}
	return struct {
		Agent   string `json:"agent"`
		File    string `json:"file"`
		Bytes   int64  `json:"bytes"`
		Created bool   `json:"created"`
	}{a.ID, pg.Path, pg.Size, created}, nil
}

// pageText is a part of a page.
type pageText struct {
	File   string `json:"file"`
	HTML   string `json:"html"`
	Bytes  int    `json:"bytes"` // of the whole page
	Offset int    `json:"offset"`
	Next   int    `json:"next,omitzero"` // the offset of the next part
}

// readPage returns a page from an offset on, as much as fits.
func readPage(p *Provider, a aap.Agent, in input) (any, error) {
	html, _, err := p.store.Page(a.ID, in.File)
	if err != nil {
		return nil, err
	}
	if in.Offset > len(html) {
		return nil, &aap.Error{Code: aap.CodeInvalidField, Message: "offset is behind the end of the page", Field: "offset"}
	}
	for size := chunkBytes; ; size /= 2 { // characters can take up to six bytes as JSON
		end := min(in.Offset+size, len(html))
		for end < len(html) && end > in.Offset && !utf8.RuneStart(html[end]) {
			end--
		}
		t := pageText{File: in.File, HTML: string(html[in.Offset:end]), Bytes: len(html), Offset: in.Offset}
		if end < len(html) {
			t.Next = end
		}
		if raw := ahp.MustMarshal(t); len(raw) <= valueBytes {
			return raw, nil
		}
	}
}

func deletePage(p *Provider, a aap.Agent, in input) (any, error) {
	if err := p.store.DeletePage(a.ID, in.File); err != nil {
		return nil, err
	}
	return struct {
		Agent   string `json:"agent"`
		File    string `json:"file"`
		Deleted bool   `json:"deleted"`
	}{a.ID, in.File, true}, nil
}

// push sends data to every View of a page.
func push(p *Provider, a aap.Agent, in input) (any, error) {
	if !aap.ValidPath(in.File) {
		return nil, &aap.Error{Code: aap.CodeInvalidRequest, Message: "Invalid file path", Field: "file"}
	}
	data := in.Data
	if data == nil {
		data = ahp.Null
	}
	message := ahp.MustMarshal(struct {
		Type string    `json:"type"`
		Data ahp.Value `json:"data"`
	}{"canvas:push", data})
	shown := p.showing(pageKey{a.ID, in.File})
	if len(shown) == 0 {
		return nil, &aap.Error{Code: aap.CodeNotFound, Message: "Canvas file '" + in.File + "' is not open"}
	}
	for _, i := range shown {
		if err := i.h.Post(i.h.Context(), message); err != nil {
			return nil, &aap.Error{Code: aap.CodeTooLarge, Message: "data does not fit a message of 64 KiB", Field: "data"}
		}
	}
	return struct {
		Canvases int `json:"canvases"`
	}{len(shown)}, nil
}

func acknowledge(p *Provider, a aap.Agent, in input) (any, error) {
	return wrap(p.store.Acknowledge(a.ID, in.ID, in.Note))
}

func wrap[T any](v T, err error) (any, error) { return v, err }
