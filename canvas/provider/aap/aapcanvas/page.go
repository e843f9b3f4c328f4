package aapcanvas

import (
	"context"
	"errors"
	"path"
	"strconv"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/inhead"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

const (
	maxText     = 512 // code points of a title or a status
	statusRange = 200 // newest records of the agent among which a page's last one is looked for
)

// What the status says.
const (
	statusNone    = "No interactions yet"
	statusRemoved = "The agent has removed this page"
)

// page is an open aap-page.
type page struct {
	*view.Pages
	p *Provider
	h *canvas.Handle

	mu    sync.Mutex
	agent aap.Agent
	file  string
	title string // of the input
	off   func() // ends the watch of the file
}

// pageInput is the input of aap-page.
type pageInput struct {
	File  string `json:"file,omitzero"`
	Agent string `json:"agent,omitzero"`
	Title string `json:"title,omitzero"`
}

// savedPage is what an instance keeps.
type savedPage struct {
	Agent string `json:"agent"` // its id
	File  string `json:"file"`
}

func (p *Provider) openPage(req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	in, err := readInput[pageInput](req.Input)
	if err != nil {
		return canvas.Opened{}, err
	}
	var saved savedPage
	if req.Saved != nil {
		_ = ahp.Unmarshal(req.Saved, &saved) // the input has the same
	}
	agent, err := p.agent(in.Agent)
	again := saved.File != "" && saved.File == in.File && (in.Agent == "" || agent.ID == saved.Agent || err != nil)
	if again && err != nil {
		agent, err = aap.Agent{ID: saved.Agent, Name: saved.Agent}, nil
	}
	if err != nil {
		return canvas.Opened{}, canvasError(err)
	}
	html, _, err := p.store.Page(agent.ID, in.File)
	if err != nil && !(again && errors.Is(err, &aap.Error{Code: aap.CodeNotFound})) {
		return canvas.Opened{}, canvasError(err)
	}
	if now := (savedPage{agent.ID, in.File}); saved != now {
		if err := h.Save(h.Context(), ahp.MustMarshal(now)); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return canvas.Opened{}, err
		}
	}
	i := p.pageInstance(req, h)
	i.show(agent, in.File, in.Title)
	return canvas.Opened{
		Instance: i, URL: h.ContentURL(pathOf(in.File)), Links: true,
		Title: titleOf(in.Title, html, in.File), Status: p.statusOf(agent, in.File, err == nil),
	}, nil
}

// pageInstance returns the open instance, or a new one.
func (p *Provider) pageInstance(req canvas.OpenRequest, h *canvas.Handle) *page {
	if i, ok := req.Current.(*page); ok {
		return i
	}
	i := &page{p: p, h: h}
	i.Pages = view.New(view.Options{To: h, OnMessage: i.message})
	p.mu.Lock()
	p.pages[i] = struct{}{}
	p.mu.Unlock()
	// The handle also ends if the open fails, without a call of Close.
	context.AfterFunc(h.Context(), func() { p.forget(i) })
	return i
}

// show makes an instance show a page.
func (i *page) show(agent aap.Agent, file, title string) {
	i.mu.Lock()
	if i.off != nil {
		i.off()
	}
	i.agent, i.file, i.title = agent, file, title
	i.off = i.p.store.WatchPage(agent.ID, file)
	i.mu.Unlock()
	i.p.mu.Lock()
	delete(i.p.fresh, pageKey{agent.ID, file})
	i.p.mu.Unlock()
	i.p.refreshLists()
}

func (i *page) shown() (agent aap.Agent, file string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.agent, i.file
}

func (i *page) key() pageKey {
	agent, file := i.shown()
	return pageKey{agent.ID, file}
}

// forget removes an instance whose handle has ended.
func (p *Provider) forget(i *page) {
	i.mu.Lock()
	if i.off != nil {
		i.off()
		i.off = nil
	}
	i.mu.Unlock()
	p.mu.Lock()
	delete(p.pages, i)
	if i.h.Session() == p.opts.Session {
		delete(p.own, i.h.InstanceID())
	}
	p.mu.Unlock()
	p.refreshLists()
}

// Close ends the instance: the canvas was closed on purpose, so it is not opened automatically
// again.
func (i *page) Close(ctx context.Context) error {
	key := i.key()
	i.p.mu.Lock()
	if len(i.p.shut) < maxWork {
		i.p.shut[key] = true
	}
	i.p.mu.Unlock()
	i.p.forget(i)
	return i.Pages.Close(ctx)
}

// Read serves the page at its path and at the root.
func (i *page) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	agent, file := i.shown()
	if name := req.Path.Name(); req.Path.Dir && len(req.Path.Segments) > 0 || len(req.Path.Segments) > 0 && name != file {
		return canvas.Content{}, ahp.ErrNotFound
	}
	if req.ETag != "" { // the file need not be read
		if info, err := i.p.store.PageInfo(agent.ID, file); err == nil && i.p.etag(info) == req.ETag {
			return canvas.Content{NotModified: true, ETag: req.ETag}, nil
		}
	}
	html, info, err := i.p.store.Page(agent.ID, file)
	switch {
	case errors.Is(err, &aap.Error{Code: aap.CodeTooLarge}):
		return canvas.Content{}, canvasError(err)
	case err != nil:
		return canvas.Content{}, ahp.ErrNotFound
	}
	return canvas.Content{Data: aap.InjectVersion(html, versionOf(info)), ContentType: "text/html; charset=utf-8", ETag: i.p.etag(info)}, nil
}

// etag identifies a page's content by its time, unless that is too recent.
func (p *Provider) etag(info aap.Page) string {
	if age := p.store.Now().Sub(info.ModifiedAt); age.Abs().Seconds() <= 2 {
		return ""
	}
	return aap.BridgeVersion + versionOf(info)
}

func versionOf(info aap.Page) string {
	return strconv.FormatInt(info.Size, 36) + "-" + strconv.FormatInt(info.ModifiedAt.UnixNano(), 36)
}

// titleOf returns the title: the input's, or the document's, or the file's name.
func titleOf(input string, html []byte, file string) string {
	for _, s := range []string{input, inhead.Title(html)} {
		if s = aap.OneLine(s, maxText); s != "" {
			return s
		}
	}
	return aap.OneLine(path.Base(file), maxText)
}

// statusOf returns the status of a page.
func (p *Provider) statusOf(agent aap.Agent, file string, exists bool) string {
	if !exists {
		return statusRemoved
	}
	records, _, err := p.store.List(agent.ID, aap.Query{Limit: statusRange})
	if err != nil {
		return statusNone
	}
	for _, r := range records {
		var m struct{ CanvasFile, Action, Element text }
		if readRecord(r, &m.CanvasFile, &m.Action, &m.Element); string(m.CanvasFile) == file {
			return lastStatus(string(m.Action), string(m.Element))
		}
	}
	return statusNone
}

func lastStatus(action, element string) string {
	s := "Last: " + action
	if element != "" {
		s += " '" + element + "'"
	}
	return aap.OneLine(s, maxText)
}

// text is a member of a record that is a string.
type text string

// readRecord reads members of any writer's record; members of another type are "".
func readRecord(r ahp.Value, canvasFile, action, element *text) {
	var m struct {
		CanvasFile ahp.Value `json:"canvasFile,omitzero"`
		Action     ahp.Value `json:"action,omitzero"`
		Element    ahp.Value `json:"element,omitzero"`
	}
	if ahp.Unmarshal(r, &m) != nil {
		return
	}
	for at, v := range map[*text]ahp.Value{canvasFile: m.CanvasFile, action: m.Action, element: m.Element} {
		var s string
		if v.Kind() == '"' && ahp.Unmarshal(v, &s) == nil {
			*at = text(s)
		}
	}
}

// readInput decodes an input; an absent one is empty.
func readInput[T any](input ahp.Value) (in T, err error) {
	if len(input) == 0 {
		return in, nil
	}
	if err := ahp.Unmarshal(input, &in); err != nil {
		return in, canvas.Errorf(canvas.CodeInputInvalid, "the input does not fit: %v", err)
	}
	return in, nil
}
