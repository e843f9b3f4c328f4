package page

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
)

// hashOf returns the name of a content.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// blobs keeps contents by their hashes.
type blobs interface {
	// put keeps contents, and returns when they are durable.
	put(contents map[string][]byte) error
	// get returns a content, which must not be changed.
	get(hash string) ([]byte, error)
	// keep removes all contents but those for which live is true.
	keep(live func(hash string) bool)
}

// memory keeps contents in memory.
type memory struct {
	mu  sync.Mutex
	all map[string][]byte
}

// memoryOf returns the contents of an instance that was open before, or none.
func memoryOf(before *instance) blobs {
	if before != nil {
		return before.blobs
	}
	return &memory{all: map[string][]byte{}}
}

func (m *memory) put(contents map[string][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(m.all, contents)
	return nil
}

func (m *memory) get(hash string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.all[hash]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) keep(live func(hash string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.all, func(hash string, _ []byte) bool { return !live(hash) })
}

// disk keeps contents as files of one folder, which only the user can read. A file has
// its name only once its content is durable.
type disk struct {
	dir   string
	owner owner
}

// owner says whose folder it is, so that an orphan can be recognized.
type owner struct {
	Session    string `json:"session"`
	InstanceID string `json:"instanceId"`
}

const ownerFile = "owner.json"

func readOwner(dir string) (of owner, ok bool) {
	raw, err := os.ReadFile(filepath.Join(dir, ownerFile))
	return of, err == nil && ahp.Unmarshal(raw, &of) == nil
}

func (d *disk) put(contents map[string][]byte) error {
	if err := d.prepare(); err != nil {
		return err
	}
	errs := make(chan error, len(contents))
	for hash, data := range contents { // side by side: the file system syncs several files at once
		go func() { errs <- d.write(hash, data) }()
	}
	var all []error
	for range contents {
		all = append(all, <-errs)
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	return durable.SyncDir(d.dir)
}

// prepare creates the folder.
func (d *disk) prepare() error {
	if _, ok := readOwner(d.dir); ok {
		return nil
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	if err := durable.Rename(filepath.Join(d.dir, ownerFile), ahp.MustMarshal(d.owner)); err != nil {
		return err
	}
	return errors.Join(durable.SyncDir(filepath.Dir(d.dir)), durable.SyncDir(filepath.Dir(filepath.Dir(d.dir))))
}

func (d *disk) get(hash string) ([]byte, error) { return os.ReadFile(filepath.Join(d.dir, hash)) }

func (d *disk) keep(live func(hash string) bool) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return // there is no folder yet, or the next collection tries again
	}
	for _, e := range entries {
		if e.Name() != ownerFile && !live(e.Name()) {
			_ = os.Remove(filepath.Join(d.dir, e.Name()))
		}
	}
}

// write writes a content unless its file exists.
func (d *disk) write(hash string, data []byte) error {
	name := filepath.Join(d.dir, hash)
	if info, err := os.Stat(name); err == nil && info.Size() == int64(len(data)) {
		return nil
	}
	return durable.Rename(name, data)
}
