package bridgecanvas

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
)

// FolderOptions configures a Folder. The zero value is ready to use.
type FolderOptions struct {
	// Scripts allows tools that run scripts which the agent writes.
	Scripts bool
	// NewID returns ids for calls, which must be unique. It is called concurrently. The
	// default is 128 random bits.
	NewID func() string
}

// Setter replaces what a folder declares when actions.json was edited;
// [canvas.Registration] is one.
type Setter interface {
	// Set replaces what the folder declares.
	Set(set ...canvas.Declaration) error
}

// Folder is the provider of a folder with an index.html and an actions.json: the tools of
// actions.json are the declared actions of its canvas, and run in a page that shows it.
// Make it with [OpenFolder], and pass its registration to Watch.
type Folder struct {
	files *folder.Folder
	root  *os.Root
	id    string
	name  string // of the folder
	opts  FolderOptions

	mu        sync.Mutex
	current   *description // the last valid one
	invalid   *faulty      // what is wrong with the file now; nil if it is valid
	setter    Setter       // nil until Watch
	instances map[*folderInstance]struct{}

	stop    context.CancelFunc // ends watching
	watched sync.WaitGroup
}

// OpenFolder reads the folder's actions.json. It fails with file, line, place and rule if
// the manifest is invalid or refers to something outside the folder, and if the folder has
// a canvas.json too. The folder stays open until Close.
func OpenFolder(dir string, o FolderOptions) (_ *Folder, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("folder %q: %w", dir, err)
		}
	}()
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	f := &Folder{root: root, name: filepath.Base(abs), opts: o, instances: map[*folderInstance]struct{}{}}
	if f.opts.NewID == nil {
		f.opts.NewID = rand.Text
	}
	if err := f.begin(abs); err != nil {
		_ = root.Close() // it was only read
		return nil, err
	}
	return f, nil
}

func (f *Folder) begin(dir string) error {
	raw, info, err := readActions(f.root)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it has no %s; without one, offer the folder as a usual canvas", ActionsFile)
	}
	if err != nil {
		return err
	}
	if _, err := f.root.Stat(folder.ManifestName); err == nil {
		return fmt.Errorf("it has both %s and %s; remove one of them: both declare the canvas's actions", folder.ManifestName, ActionsFile)
	}
	if f.current, err = describe(f.root, raw); err != nil {
		return err
	}
	if f.files, err = folder.Open(dir); err != nil {
		return err
	}
	f.id = f.current.id()
	if f.id == "" {
		f.id = f.files.ID()
	}
	if err := declarable(f.declaration(f.current)); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", ActionsFile, err), f.files.Close())
	}
	f.watch(info)
	return nil
}

// ID returns the id of the canvas and of the extension. It does not change when
// actions.json is edited.
func (f *Folder) ID() string { return f.id }

// Extension identifies the folder in a host's registry.
func (f *Folder) Extension() canvas.Extension {
	return canvas.Extension{ID: f.id, Name: f.Declarations()[0].DisplayName}
}

// Declarations returns the one canvas that the folder declares.
func (f *Folder) Declarations() []canvas.Declaration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []canvas.Declaration{f.declaration(f.current)}
}

func (f *Folder) declaration(d *description) canvas.Declaration {
	return d.declaration(f.id, f.name, fmt.Sprintf("The page in the folder %q.", f.name))
}

// Close closes the folder. Its canvases have no content afterwards.
func (f *Folder) Close() error {
	f.stop()
	f.watched.Wait()
	f.mu.Lock()
	open := f.instances
	f.instances = nil
	f.mu.Unlock()
	for i := range open {
		i.end()
		i.calls.work.Wait()
	}
	return errors.Join(f.files.Close(), f.root.Close())
}

// manifest returns the description that holds for calls that begin now, or why nothing
// can be called.
func (f *Folder) manifest() (*description, *faulty) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current, f.invalid
}

// Open opens the folder's canvas, any number of times.
func (f *Folder) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	i, isOpen := req.Current.(*folderInstance)
	req.Current = nil
	if isOpen {
		req.Current = i.files
	}
	opened, err := f.files.Open(ctx, req, h)
	if err != nil {
		return canvas.Opened{}, err
	}
	files, ok := opened.Instance.(folderFiles)
	if !ok {
		return canvas.Opened{}, errors.New("bridgecanvas: the folder's instance cannot show pages")
	}
	if !isOpen {
		i = newFolderInstance(f, files, h)
		if err := f.add(i); err != nil {
			return canvas.Opened{}, err
		}
		// The handle also ends if the canvas becomes stale or its open fails.
		context.AfterFunc(h.Context(), i.end)
	}
	opened.Instance, opened.Title, opened.Status = i, f.Declarations()[0].DisplayName, i.statusText()
	return opened, nil
}

func (f *Folder) add(i *folderInstance) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.instances == nil {
		return canvas.Errorf(canvas.CodeProviderUnavailable, "the folder is closed")
	}
	f.instances[i] = struct{}{}
	return nil
}

func (f *Folder) remove(i *folderInstance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.instances, i)
}

// open returns the open instances.
func (f *Folder) open() (all []*folderInstance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.instances {
		all = append(all, i)
	}
	return all
}

// notReady is the error for a call while actions.json is invalid.
func (f *faulty) notReady() *actionsbridge.Error {
	type issue struct {
		Line    int    `json:"line"`
		Path    string `json:"path"`
		Message string `json:"message"`
	}
	var issues []issue
	for _, one := range f.faults[:min(len(f.faults), 8)] {
		issues = append(issues, issue{f.line(one), one.Path, one.Text})
	}
	e := actionsbridge.NewError(actionsbridge.CodeRuntimeNotReady, map[string]any{"file": ActionsFile, "issues": issues}, "nothing can be called: %v", f)
	e.NextStep = "correct " + ActionsFile + "; its tools can be called as soon as it is valid"
	return e
}

// canvasError returns an error of the protocol as the agent receives it.
func canvasError(e *actionsbridge.Error) *canvas.Error {
	return &canvas.Error{Code: e.Code, Message: e.Message, Details: ahp.Value(e.Details())}
}
