package page

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Who made a revision.
const (
	byAgent  = "agent"
	byPerson = "person"
)

// revision is the saved form of one change of an instance's files.
type revision struct {
	N    int64     `json:"revision"`
	Time time.Time `json:"time"`
	By   string    `json:"by"`
	What string    `json:"what"`
	// Exactly one of both is set: the files, or the blob that has them as JSON.
	Files    tree   `json:"files,omitzero"`
	Manifest string `json:"manifest,omitzero"`

	files tree // in either case
}

// record is the saved form of an instance.
type record struct {
	Title     string               `json:"title,omitzero"`     // that the agent gave
	Revisions []revision           `json:"revisions,omitzero"` // the oldest first
	State     map[string]ahp.Value `json:"state,omitzero"`
}

const (
	maxInline = 2 << 10   // bytes of a revision's files as JSON that are saved with it
	maxSaved  = 250 << 10 // bytes of a record; a host saves 256 KiB
)

// head returns the current revision; the zero revision has no files.
func (r record) head() revision {
	if len(r.Revisions) == 0 {
		return revision{}
	}
	return r.Revisions[len(r.Revisions)-1]
}

// at returns a revision that is kept.
func (r record) at(n int64) (revision, error) {
	for _, rev := range r.Revisions {
		if rev.N == n {
			return rev, nil
		}
	}
	return revision{}, canvas.Errorf(CodeNoRevision, "there is no revision %d; the kept ones are %d to %d", n, r.oldest(), r.head().N)
}

func (r record) oldest() int64 {
	if len(r.Revisions) == 0 {
		return 0
	}
	return r.Revisions[0].N
}

// live reports whether a kept revision refers to a blob.
func (r record) live() func(hash string) bool {
	hashes := map[string]bool{}
	for _, rev := range r.Revisions {
		hashes[rev.Manifest] = true
		for _, f := range rev.files {
			hashes[f.Hash] = true
		}
	}
	return func(hash string) bool { return hashes[hash] }
}

// history returns the size of the different contents of all kept revisions.
func (r record) history() (n int) {
	seen := map[string]bool{}
	for _, rev := range r.Revisions {
		for _, f := range rev.files {
			if !seen[f.Hash] {
				seen[f.Hash] = true
				n += f.Size
			}
		}
	}
	return n
}

// trimmed returns the record without the oldest revisions beyond the limits, and its JSON.
func (r record) trimmed() (record, []byte) {
	if drop := len(r.Revisions) - MaxRevisions; drop > 0 {
		r.Revisions = r.Revisions[drop:]
	}
	for len(r.Revisions) > 1 && r.history() > MaxHistory {
		r.Revisions = r.Revisions[1:]
	}
	data := ahp.MustMarshal(r)
	for len(r.Revisions) > 1 && len(data) > maxSaved {
		r.Revisions = r.Revisions[1:]
		data = ahp.MustMarshal(r)
	}
	return r, data
}

// restore reads the saved record.
func (i *instance) restore(saved []byte) error {
	if saved == nil {
		return nil
	}
	if err := ahp.Unmarshal(saved, &i.rec); err != nil {
		return fmt.Errorf("the saved data of the page cannot be read: %w", err)
	}
	for n := range i.rec.Revisions {
		rev := &i.rec.Revisions[n]
		if rev.files = rev.Files; rev.Manifest == "" {
			continue
		}
		raw, err := i.blobs.get(rev.Manifest)
		if err == nil {
			err = ahp.Unmarshal(raw, &rev.files)
		}
		if err != nil {
			return fmt.Errorf("revision %d of the page cannot be read: %w", rev.N, err)
		}
	}
	i.blobs.keep(i.rec.live()) // a process that was killed may have left others
	return nil
}

// commit makes files the next revision: durable first, then visible. Files that equal the
// current ones are no revision. mu is held. contents are the blobs that are new.
func (i *instance) commit(ctx context.Context, by, what string, files tree, contents map[string][]byte) (revision, error) {
	if maps.Equal(files, i.rec.head().files) {
		return i.rec.head(), nil
	}
	if err := files.check(); err != nil {
		return revision{}, err
	}
	rev := revision{N: i.rec.head().N + 1, Time: i.provider.opts.Now().UTC().Truncate(time.Millisecond), By: by, What: what, Files: files, files: files}
	if manifest := ahp.MustMarshal(files); len(manifest) > maxInline {
		rev.Files, rev.Manifest = nil, hashOf(manifest)
		contents = maps.Clone(contents)
		if contents == nil {
			contents = map[string][]byte{}
		}
		contents[rev.Manifest] = manifest
	}
	if len(contents) > 0 {
		if err := i.blobs.put(contents); err != nil {
			return revision{}, canvas.Errorf(canvas.CodeStoreFailed, "nothing was changed, because the files could not be stored: %v", err)
		}
	}
	next := i.rec
	next.Revisions = append(next.Revisions[:len(next.Revisions):len(next.Revisions)], rev)
	if err := i.save(ctx, next); err != nil {
		return revision{}, err
	}
	clear(i.blocked)
	return rev, nil
}

// save makes a record durable and then the instance's. mu is held.
func (i *instance) save(ctx context.Context, next record) error {
	next, data := next.trimmed()
	if len(data) > maxSaved {
		return canvas.Errorf(CodeTooLarge, "the shared state and the names of the files have %d bytes together; at most %d can be stored", len(data), maxSaved)
	}
	if err := i.h.Save(ctx, data); err != nil {
		return err
	}
	dropped := next.oldest() != i.rec.oldest()
	i.rec = next
	if dropped && i.shown {
		i.blobs.keep(next.live())
	}
	return nil
}

var titleRE = regexp.MustCompile(`(?is)<title[^>]*>\s*(.*?)\s*</title>`)

// title returns the title for people: the agent's, the document's, or "Page". mu is held.
func (i *instance) title() string {
	if i.rec.Title != "" {
		return i.rec.Title
	}
	if data, err := i.content(i.rec.head().files, index); err == nil {
		if m := titleRE.FindSubmatch(data[:min(len(data), 4096)]); m != nil && len(m[1]) > 0 {
			return strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'").Replace(string(m[1]))
		}
	}
	return "Page"
}

// status returns the line under the title. mu is held.
func (i *instance) status() string {
	switch n := i.rec.head().N; n {
	case 0:
		return "Empty"
	default:
		return fmt.Sprintf("Revision %d", n)
	}
}

// content returns the content of a file.
func (i *instance) content(files tree, path string) ([]byte, error) {
	f, ok := files[path]
	if !ok {
		return nil, canvas.Errorf(CodeNoFile, "the canvas has no file %q; it has %s", path, some(files.paths()))
	}
	return i.blobs.get(f.Hash)
}

// some lists names for an error.
func some(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "no files"
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
