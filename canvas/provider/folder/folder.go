package folder

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Folder is the provider of a folder's canvas. Make it with [Open].
type Folder struct {
	root     *os.Root
	manifest manifest
	watch    *watch
	reading  chan struct{} // has an element for each read of a large file
	now      func() time.Time
}

// Open reads the folder's canvas.json, or checks that it has an index.html. The folder
// stays open until Close.
func Open(dir string) (*Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	m, err := readManifest(root.FS(), abs)
	if err != nil {
		_ = root.Close() // it was only read
		return nil, fmt.Errorf("folder %s: %w", dir, err)
	}
	return &Folder{root: root, manifest: m, watch: newWatch(root.Stat), reading: make(chan struct{}, largeReads), now: time.Now}, nil
}

// Close closes the folder. Its canvases have no content afterwards.
func (f *Folder) Close() error {
	f.watch.close()
	return f.root.Close()
}

// ID returns the id of the canvas and of the extension.
func (f *Folder) ID() string { return f.manifest.ID }

// Extension identifies the folder in a host's registry.
func (f *Folder) Extension() canvas.Extension {
	return canvas.Extension{ID: f.manifest.ID, Name: f.manifest.DisplayName}
}

// Declarations returns the one canvas that the folder declares.
func (f *Folder) Declarations() []canvas.Declaration {
	return []canvas.Declaration{f.manifest.declaration()}
}

// hidden reports whether a name in the path begins with a dot.
func hidden(p canvas.ContentPath) bool {
	return slices.ContainsFunc(p.Segments, func(s string) bool { return strings.HasPrefix(s, ".") })
}

// Files above largeFile bytes are read at most largeReads at a time: reading one takes
// milliseconds of a processor.
const (
	largeFile  = 1 << 20
	largeReads = 2
)

// racy is the age after which a modification time identifies the content.
const racy = 2 * time.Second

// read returns a file, unless have is its validator.
func (f *Folder) read(at canvas.ContentPath, have string) (canvas.Content, error) {
	// A link out of the folder and a path through a file are answered like a missing
	// file. A pipe would block.
	info, err := f.root.Stat(at.Name())
	if err != nil || !info.Mode().IsRegular() {
		return canvas.Content{}, fs.ErrNotExist
	}
	f.watch.read(at.Name(), info)
	etag := ""
	if age := f.now().Sub(info.ModTime()); age > racy || age < -racy {
		etag = strconv.FormatInt(info.Size(), 36) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
		if etag == have {
			return canvas.Content{ETag: etag, NotModified: true}, nil
		}
	}
	if info.Size() > largeFile {
		f.reading <- struct{}{}
		defer func() { <-f.reading }()
	}
	data, err := readFile(f.root.FS(), at.Name(), maxFile)
	if err != nil {
		return canvas.Content{}, err
	}
	if etag == "" {
		etag = "h" + canvas.HashETag(data)
	}
	if etag == have {
		return canvas.Content{ETag: etag, NotModified: true}, nil
	}
	return canvas.Content{Data: data, ContentType: canvas.ContentType(at), ETag: etag}, nil
}

// maxFile is above the host's own limit, so that the host answers for larger files.
const maxFile = 64 << 20

// readPiece is how many bytes of a file are read before other goroutines run: a large file
// keeps a processor for milliseconds.
const readPiece = 256 << 10

// readFile reads a file of at most limit bytes into a buffer of its size.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%q has %d bytes; the limit is %d", filepath.Base(name), info.Size(), limit)
	}
	buf := make([]byte, info.Size())
	for rest := buf; len(rest) > 0; rest = rest[min(readPiece, len(rest)):] {
		if _, err := io.ReadFull(file, rest[:min(readPiece, len(rest))]); err != nil {
			return nil, err
		}
		runtime.Gosched()
	}
	return buf, nil
}
