package bridgecanvas

import (
	"context"
	_ "embed"
	"io/fs"
	"mime"
	"slices"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/inhead"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

var (
	//go:embed runtime/early.js
	earlyScript string
	//go:embed runtime/runtime.js
	runtimeScript []byte
	//go:embed runtime/probe.js
	probeScript []byte
)

const (
	// runtimeFolder has the runtime's modules; a folder serves no name with a dot.
	runtimeFolder = ".actions"
	// placeholder is replaced in earlyScript.
	placeholder = "/** @type {any} */ (null)"
	// runtimeMarker is the attribute by which the runtime's tags are recognized.
	runtimeMarker = "data-actions-runtime"
)

// folderFiles is an open canvas of the folder's files.
type folderFiles interface {
	canvas.Instance
	canvas.Messenger
	canvas.Reader
}

// folderInstance is an open canvas of a Folder.
type folderInstance struct {
	folder *Folder
	files  folderFiles // the pages, the files and view/1
	h      *canvas.Handle
	calls  folderCalls

	mu    sync.Mutex
	pages []*folderPage // that said runtime_ready, the earliest first
}

// folderPage is the runtime of a page.
type folderPage struct {
	view   canvas.View
	id     string // of the runtime
	states []string
	drift  []string // checks that do not hold
	events *eventLimit
}

func newFolderInstance(f *Folder, files folderFiles, h *canvas.Handle) *folderInstance {
	i := &folderInstance{folder: f, files: files, h: h}
	i.calls.ctx, i.calls.stop = context.WithCancel(h.Context())
	i.calls.running = map[string]*folderCall{}
	return i
}

// end ends what works for the instance. It may be called more than once.
func (i *folderInstance) end() {
	i.folder.remove(i)
	i.calls.end()
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, p := range i.pages {
		p.events.end()
	}
}

// Close ends the instance.
func (i *folderInstance) Close(ctx context.Context) error {
	i.end()
	err := i.files.Close(ctx)
	i.calls.work.Wait()
	return err
}

// Read serves the runtime's modules, and the folder's files with the runtime in each HTML
// document.
func (i *folderInstance) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if len(req.Path.Segments) > 0 && req.Path.Segments[0] == runtimeFolder {
		return readRuntime(req)
	}
	at := req.Path
	if at.Dir {
		at = canvas.ContentPath{Segments: append(slices.Clone(at.Segments), "index.html")}
	}
	if !isHTML(canvas.ContentType(at)) {
		return i.files.Read(ctx, req)
	}
	d, _ := i.folder.manifest()
	etag, mine := strings.CutSuffix(req.ETag, "~"+d.hash) // the document changes with the manifest
	if req.ETag = ""; mine {
		req.ETag = etag
	}
	c, err := i.files.Read(ctx, req)
	if err != nil {
		return c, err
	}
	c.ETag += "~" + d.hash
	if !c.NotModified {
		c.Data = inhead.Insert(c.Data, d.tags(at), runtimeMarker)
	}
	return c, nil
}

func isHTML(kind string) bool {
	media, _, err := mime.ParseMediaType(kind)
	return err == nil && (media == "text/html" || media == "application/xhtml+xml")
}

func readRuntime(req canvas.ReadRequest) (canvas.Content, error) {
	data := map[string][]byte{runtimeFolder + "/runtime.js": runtimeScript, runtimeFolder + "/probe.js": probeScript}[req.Path.Name()]
	if data == nil {
		return canvas.Content{}, fs.ErrNotExist
	}
	etag := hashOf(data)
	if req.ETag == etag {
		return canvas.Content{ETag: etag, NotModified: true}, nil
	}
	return canvas.Content{Data: data, ContentType: "text/javascript", ETag: etag}, nil
}

// tags returns the script tags of the runtime for a document.
func (d *description) tags(at canvas.ContentPath) []byte {
	given := ahp.MustMarshal(struct {
		Config ahp.Value `json:"config"`
		Path   string    `json:"path"`
	}{d.config, "/" + at.Name()})
	// It is inside a script: no "</script" and no "<!--" may be in it.
	text := strings.NewReplacer("<", `\u003c`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(given))
	early := strings.Replace(earlyScript, placeholder, text, 1)
	return []byte("<script " + runtimeMarker + ">" + early + "</script>" +
		"<script type=\"module\" src=\"/" + runtimeFolder + "/runtime.js\" " + runtimeMarker + "></script>")
}

// carried is a message of the runtime in a page.
type carried struct {
	Actions string    `json:"actions,omitzero"` // "item"
	Item    ahp.Value `json:"item,omitzero"`
	Tag     string    `json:"x-ahp,omitzero"` // of a message of view/1, with its type
	Type    string    `json:"type,omitzero"`
}

// who makes the runtime in a page send runtime_ready again.
var who = ahp.Value(`{"actions":"who"}`)

// greet asks a page who it is before it gets a call: a View that reconnected has said
// hello again, but its runtime does not know that it was away.
func (i *folderInstance) greet(from canvas.View) {
	i.mu.Lock()
	known := slices.ContainsFunc(i.pages, func(p *folderPage) bool { return p.view == from })
	i.mu.Unlock()
	if !known {
		_ = i.h.PostTo(i.h.Context(), from, who) // a View that has left needs none
	}
}

// Message handles an item of a page's runtime. Everything else is the folder's: actions'
// answers, and messages that become events.
func (i *folderInstance) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	var m carried
	if payload.Kind() != '{' || ahp.Unmarshal(payload, &m) != nil || m.Actions != "item" || m.Item == nil {
		if m.Tag == "view/1" && m.Type == "hello" {
			i.greet(from)
		}
		i.files.Message(ctx, from, payload)
		return
	}
	item, err := actionsbridge.DecodeItem(m.Item)
	if err != nil {
		return // from a page that is not our runtime; its calls time out
	}
	switch item.Type {
	case actionsbridge.TypeRuntimeReady:
		i.ready(from, item)
	case actionsbridge.TypeRuntimeStatus:
		i.status(from, item, m.Item)
	case actionsbridge.TypeProgress:
		i.calls.progress(item)
	case actionsbridge.TypeEvent:
		i.event(from, item)
	case actionsbridge.TypeError:
		i.trouble(from, item)
	}
}

// ViewGone forgets a page.
func (i *folderInstance) ViewGone(from canvas.View) {
	i.files.ViewGone(from)
	i.mu.Lock()
	i.forget(from)
	i.mu.Unlock()
	i.showStatus()
}

// ready remembers a page, and gives it the current configuration if it has an older one.
func (i *folderInstance) ready(from canvas.View, item actionsbridge.Item) {
	i.mu.Lock()
	p := i.page(from, item.RuntimeID)
	if p == nil {
		i.forget(from) // it was loaded again
		p = i.add(from, item.RuntimeID)
	}
	i.mu.Unlock()
	if p == nil {
		return
	}
	var m struct {
		Hash string `json:"sha256,omitzero"`
	}
	if d, _ := i.folder.manifest(); ahp.Unmarshal(item.Manifest, &m) != nil || m.Hash != d.hash {
		_ = i.h.PostTo(i.h.Context(), from, d.message()) // a View that has left needs none
	}
	i.showStatus()
}

// message is what pages receive of a description.
func (d *description) message() ahp.Value {
	return ahp.MustMarshal(struct {
		Actions string    `json:"actions"`
		Config  ahp.Value `json:"config"`
	}{"config", d.config})
}

// page returns the runtime of a View; nil if there is none of this id. i.mu is held.
func (i *folderInstance) page(from canvas.View, id string) *folderPage {
	for _, p := range i.pages {
		if p.view == from && p.id == id {
			return p
		}
	}
	return nil
}

// add adds the runtime of a View; it returns nil if another View has one of this id. i.mu
// is held.
func (i *folderInstance) add(from canvas.View, id string) *folderPage {
	if id == "" || i.hasPage(id) {
		return nil
	}
	p := &folderPage{view: from, id: id, events: &eventLimit{raise: func(e any) { _ = i.h.Raise(ahp.MustMarshal(e)) }}} // fails only if the canvas is closed
	i.pages = append(i.pages, p)
	return p
}

// forget removes the runtime of a View. i.mu is held.
func (i *folderInstance) forget(from canvas.View) {
	i.pages = slices.DeleteFunc(i.pages, func(p *folderPage) bool {
		if p.view == from {
			p.events.end()
		}
		return p.view == from
	})
}

func (i *folderInstance) status(from canvas.View, item actionsbridge.Item, raw ahp.Value) {
	var more struct {
		Drift []struct {
			Check string `json:"check,omitzero"`
		} `json:"drift,omitzero"`
	}
	if ahp.Unmarshal(raw, &more) != nil {
		more.Drift = nil
	}
	i.mu.Lock()
	if p := i.page(from, item.RuntimeID); p != nil {
		p.states, p.drift = item.States, nil
		for _, one := range more.Drift[:min(len(more.Drift), 8)] {
			p.drift = append(p.drift, line(one.Check))
		}
	}
	i.mu.Unlock()
	i.showStatus()
}

// redeclared tells the pages and people that actions.json was edited.
func (i *folderInstance) redeclared() {
	if d, invalid := i.folder.manifest(); invalid == nil {
		_ = i.h.Post(i.h.Context(), d.message()) // fails only if the canvas is closed
	}
	_ = i.h.SetTitle(i.h.Context(), i.folder.Declarations()[0].DisplayName) // likewise
	i.showStatus()
}

func (i *folderInstance) showStatus() {
	_ = i.h.SetStatus(i.h.Context(), i.statusText()) // fails only if the canvas is closed
}

// statusText is what people see of the canvas: what is wrong with actions.json, what has
// drifted, or the states of the page that takes the calls.
func (i *folderInstance) statusText() string {
	if _, invalid := i.folder.manifest(); invalid != nil {
		return "Nothing can be called: " + invalid.Error()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.pages) == 0 {
		return ""
	}
	if p := i.pages[0]; len(p.drift) > 0 {
		return "The page differs from actions.json: " + strings.Join(p.drift, ", ")
	}
	return strings.Join(i.pages[0].states, ", ")
}
