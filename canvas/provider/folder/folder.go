package folder

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Folder is the provider of one folder's canvas. Make it with Open.
type Folder struct {
	root     *os.Root
	manifest manifest
	watch    *watch
	now      func() time.Time
}

// Open reads what canvas a folder is, and holds the folder open. The error says
// what is wrong with its canvas.json.
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
	return &Folder{root: root, manifest: m, watch: newWatch(root.Stat), now: time.Now}, nil
}

// Close lets the folder go; its canvases have no content any more.
func (f *Folder) Close() error {
	f.watch.close()
	return f.root.Close()
}

// ID is the canvas's id; it serves as the extension's too.
func (f *Folder) ID() string { return f.manifest.ID }

// Extension identifies the folder in a host's registry.
func (f *Folder) Extension() canvas.Extension {
	return canvas.Extension{ID: f.manifest.ID, Name: f.manifest.DisplayName}
}

// Declarations returns the one canvas that the folder declares.
func (f *Folder) Declarations() []canvas.Declaration {
	return []canvas.Declaration{f.manifest.declaration()}
}

// hidden reports that a path leads through a name that begins with a dot.
func hidden(p canvas.ContentPath) bool {
	return slices.ContainsFunc(p.Segments, func(s string) bool { return strings.HasPrefix(s, ".") })
}

// racy is how old a modification must be before its time says that there was no
// other after it.
const racy = 2 * time.Second

func (f *Folder) read(at canvas.ContentPath, have string) (canvas.Content, error) {
	// A link that leads out of the folder is no other answer than a file that is not
	// there, nor is a path through a file. And a pipe would never end.
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
	data, err := readBounded(f.root.FS(), at.Name(), maxFile)
	if err != nil {
		return canvas.Content{}, err
	}
	if etag == "" {
		sum := sha256.Sum256(data)
		etag = "h" + base64.RawURLEncoding.EncodeToString(sum[:12])
	}
	if etag == have {
		return canvas.Content{ETag: etag, NotModified: true}, nil
	}
	return canvas.Content{Data: data, ContentType: canvas.ContentType(at), ETag: etag}, nil
}

// maxFile is more than a host gives out, so that its own limit is what answers.
const maxFile = 64 << 20

// readBounded reads a file into a buffer of the right size.
func readBounded(fsys fs.FS, name string, limit int64) ([]byte, error) {
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
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%s has %d bytes, at most %d are read", filepath.Base(name), info.Size(), limit)
	}
	buf := make([]byte, info.Size())
	if _, err := io.ReadFull(file, buf); err != nil {
		return nil, err
	}
	return buf, nil
}
