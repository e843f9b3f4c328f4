package page

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// CanvasID is the id of the canvas and of its extension.
const CanvasID = "page"

//go:embed declaration.json page
var embedded embed.FS

// Options configures a Provider. The zero value keeps the files in memory.
type Options struct {
	// Dir is the folder for the files of all instances, in which each instance has a
	// folder. It is created when it is needed. Without it the files are in memory, and
	// only a host without a store can use that.
	Dir string
	// ListOpen returns the open canvases of a session: Canvases.ListOpen of the host. It
	// decides which folders are orphans; without it none is removed.
	ListOpen func(session string) ([]canvas.OpenCanvas, error)
	// Now is the clock, for tests; the default is time.Now.
	Now func() time.Time
}

// Provider provides the canvas. Make it with [New].
type Provider struct {
	opts        Options
	declaration canvas.Declaration

	mu      sync.Mutex
	claimed map[string]*instance // by the name of its folder
	closed  bool
	work    sync.WaitGroup // collections of orphans
}

// New returns the provider. One process at a time may use a folder.
func New(opts Options) *Provider {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	p := &Provider{opts: opts, claimed: map[string]*instance{}}
	raw, err := embedded.ReadFile("declaration.json")
	if err == nil {
		err = ahp.Unmarshal(raw, &p.declaration)
	}
	if err != nil {
		panic(err) // the file is embedded, so a test would have failed
	}
	return p
}

// Extension identifies the provider in a host's registry.
func (p *Provider) Extension() canvas.Extension { return canvas.Extension{ID: CanvasID} }

// Declarations returns the one canvas that the provider declares.
func (p *Provider) Declarations() []canvas.Declaration { return []canvas.Declaration{p.declaration} }

// Close waits for collections of orphans. No canvas may be open.
func (p *Provider) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.work.Wait()
}

// Open opens a canvas, or applies another input to an open one.
func (p *Provider) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	in, err := decodeOpen(req.Input)
	if err != nil {
		return canvas.Opened{}, err
	}
	i, isOpen := req.Current.(*instance)
	if !isOpen {
		if i, err = p.start(req, h); err != nil {
			return canvas.Opened{}, err
		}
	}
	if err := i.apply(ctx, in, isOpen); err != nil {
		if !isOpen {
			p.release(i)
		}
		return canvas.Opened{}, err
	}
	if err := h.OfferCopy("page.zip", "/"+ownFolder+"/"+exportFile); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return canvas.Opened{}, err
	}
	return i.opened(), nil
}

// start makes an instance of what was saved.
func (p *Provider) start(req canvas.OpenRequest, h *canvas.Handle) (*instance, error) {
	sum := sha256.Sum256([]byte(req.Session + "\x00" + req.InstanceID))
	i := &instance{provider: p, h: h, folder: hex.EncodeToString(sum[:12]), viewers: map[canvas.View]*viewer{}, moved: make(chan struct{}), blocked: map[string]bool{}}
	i.Pages = view.New(view.Options{To: h, OnMessage: i.onMessage})
	p.mu.Lock()
	if p.opts.Dir == "" {
		i.blobs = memoryOf(p.claimed[i.folder])
	} else {
		i.blobs = &disk{dir: filepath.Join(p.opts.Dir, i.folder), owner: owner{req.Session, req.InstanceID}}
	}
	p.claimed[i.folder] = i
	p.mu.Unlock()
	if err := i.restore(req.Saved); err != nil {
		p.release(i)
		return nil, err
	}
	// The handle also ends if the canvas becomes stale or its open fails.
	context.AfterFunc(h.Context(), func() { i.end() })
	return i, nil
}

// release gives up an instance's claim to its folder, and removes the folder if it is an
// orphan now.
func (p *Provider) release(i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.claimed[i.folder] != i || p.closed {
		return
	}
	if p.opts.Dir != "" {
		delete(p.claimed, i.folder)
	}
	p.work.Go(func() { _ = p.collect(i.folder) }) // the next collection tries again
}

// Collect removes the folders of instances that are not open any more: of a host that was
// killed between a close and the removal. Call it once after the provider was registered.
func (p *Provider) Collect() error {
	if p.opts.Dir == "" || p.opts.ListOpen == nil {
		return nil
	}
	entries, err := os.ReadDir(p.opts.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, p.collect(e.Name()))
	}
	return errors.Join(errs...)
}

// collect removes an instance's folder unless the instance is open or listed. It holds
// the mutex, so that no open claims the folder meanwhile.
func (p *Provider) collect(folder string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.opts.ListOpen == nil {
		return nil
	}
	dir := filepath.Join(p.opts.Dir, folder)
	of, ok := readOwner(dir)
	if i := p.claimed[folder]; i != nil {
		if p.opts.Dir != "" || i.h.Context().Err() == nil {
			return nil
		}
		of, ok = owner{i.h.Session(), i.h.InstanceID()}, true // a stale one in memory needs its files again
	}
	if ok {
		open, err := p.opts.ListOpen(of.Session)
		switch {
		case errors.Is(err, &canvas.Error{Code: canvas.CodeSessionNotFound}):
		case err != nil:
			return err // the host is closing: nothing is known
		case listed(open, of.InstanceID):
			return nil
		}
	}
	delete(p.claimed, folder)
	if p.opts.Dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

func listed(open []canvas.OpenCanvas, instanceID string) bool {
	for _, o := range open {
		if o.InstanceID == instanceID && o.CanvasID == CanvasID && o.ExtensionID == CanvasID {
			return true
		}
	}
	return false
}
