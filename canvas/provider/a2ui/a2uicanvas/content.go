package a2uicanvas

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// Limits of pictures.
const (
	pictureBytes = 4 << 20
	maxPictures  = 64
	keptBytes    = 16 << 20
	maxFetches   = 4 // at a time
	maxURL       = 2048
)

// Read serves the page, the surfaces, the catalog, and pictures of allowed origins.
func (i *panel) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	name := req.Path.Name()
	switch first, rest, _ := strings.Cut(name, "/"); {
	case name == "surface.json" && !req.Path.Dir:
		return i.readSurfaces(), nil
	case name == "catalog.json" && !req.Path.Dir:
		return canvas.Content{Data: a2ui.Basic().JSON(), ContentType: "application/json"}, nil
	case name == "catalogs.js" && !req.Path.Dir && len(i.p.opts.Catalogs) > 0:
		return canvas.Content{Data: i.p.catalogList(), ContentType: "text/javascript"}, nil
	case first == "catalogs" && !req.Path.Dir:
		return i.p.catalogModule(rest)
	case first == "media" && !req.Path.Dir:
		return i.readMedia(ctx, rest)
	}
	return canvas.ReadFile(page, req)
}

// catalogList returns the module that imports those of the program's catalogs.
func (p *Provider) catalogList() []byte {
	var imports, names strings.Builder
	for n := range p.opts.Catalogs {
		fmt.Fprintf(&imports, "import c%d from \"./catalogs/%d.js\";\n", n, n)
		fmt.Fprintf(&names, "c%d,", n)
	}
	return []byte(imports.String() + "export const catalogs = [" + names.String() + "];\n")
}

// catalogModule returns the module of a catalog by its number.
func (p *Provider) catalogModule(name string) (canvas.Content, error) {
	for n, c := range p.opts.Catalogs {
		if name == fmt.Sprintf("%d.js", n) {
			return canvas.Content{Data: c.Module, ContentType: "text/javascript"}, nil
		}
	}
	return canvas.Content{}, ahp.ErrNotFound
}

// readSurfaces returns the messages that draw everything.
func (i *panel) readSurfaces() canvas.Content {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := []ahp.Value{}
	for _, batch := range i.surfaces.Replay() {
		list = append(list, batch...)
	}
	return canvas.Content{Data: ahp.MustMarshal(list), ContentType: a2ui.MIMEv091}
}

// pictures are the fetched pictures of an instance, the newest last.
type pictures struct {
	mu      sync.Mutex
	byURL   map[string]canvas.Content
	order   []string
	bytes   int
	fetches chan struct{}
}

// readMedia fetches a picture whose URL is in its name. Whatever is wrong is not found: a
// page must not learn what the host can reach.
func (i *panel) readMedia(ctx context.Context, name string) (canvas.Content, error) {
	raw, err := base64.RawURLEncoding.DecodeString(name)
	if err != nil || i.p.opts.Media == nil || len(raw) > maxURL {
		return canvas.Content{}, ahp.ErrNotFound
	}
	u, err := url.Parse(string(raw))
	if err != nil || len(i.p.opts.Media.Origins()) == 0 || i.p.opts.Media.Allowed(u) != nil {
		return canvas.Content{}, ahp.ErrNotFound
	}
	done, err := i.pictures.enter(ctx)
	if err != nil {
		return canvas.Content{}, err
	}
	defer done()
	if c, ok := i.pictures.get(u.String()); ok {
		return c, nil
	}
	c, err := fetch(ctx, i.p.opts.Media, u)
	if err != nil {
		i.p.logger.Info("a2ui: picture not fetched")
		return canvas.Content{}, ahp.ErrNotFound
	}
	i.pictures.put(u.String(), c)
	return c, nil
}

// fetch gets a picture.
func fetch(ctx context.Context, client *outbound.Client, u *url.URL) (canvas.Content, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return canvas.Content{}, err
	}
	req.Header.Set("Accept", "image/png, image/jpeg, image/gif, image/webp, image/avif")
	resp, err := client.Do(req)
	if err != nil {
		return canvas.Content{}, err
	}
	data, err := outbound.Read(resp, pictureBytes)
	if err != nil {
		return canvas.Content{}, err
	}
	kind := pictureType(data)
	if resp.StatusCode != http.StatusOK || kind == "" {
		return canvas.Content{}, ahp.ErrNotFound
	}
	return canvas.Content{Data: data, ContentType: kind}, nil
}

// pictureType returns the type of a picture by its content, "" for anything else.
func pictureType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	if len(data) > 12 && bytes.Equal(data[4:12], []byte("ftypavif")) {
		return "image/avif"
	}
	return ""
}

// enter waits until few enough pictures are fetched.
func (p *pictures) enter(ctx context.Context) (done func(), err error) {
	p.mu.Lock()
	if p.fetches == nil {
		p.fetches = make(chan struct{}, maxFetches)
	}
	fetches := p.fetches
	p.mu.Unlock()
	select {
	case fetches <- struct{}{}:
		return func() { <-fetches }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pictures) get(url string) (canvas.Content, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.byURL[url]
	return c, ok
}

func (p *pictures) put(url string, c canvas.Content) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byURL == nil {
		p.byURL = map[string]canvas.Content{}
	}
	if _, ok := p.byURL[url]; ok {
		return
	}
	p.order, p.byURL[url] = append(p.order, url), c
	p.bytes += len(c.Data)
	for len(p.order) > maxPictures || p.bytes > keptBytes {
		p.bytes -= len(p.byURL[p.order[0]].Data)
		delete(p.byURL, p.order[0])
		p.order = p.order[1:]
	}
}
