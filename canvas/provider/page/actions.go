package page

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// actions are the agent's actions; declaration.json describes them.
var actions = map[string]func(i *instance, ctx context.Context, input ahp.Value) (any, error){
	"write_files": action((*instance).writeFiles),
	"edit_file":   action((*instance).editFile),
	"read_file":   action((*instance).readFile),
	"list_files":  action((*instance).listFiles),
	"revert":      action((*instance).revert),
	"call":        action((*instance).call),
	"export":      action((*instance).export),
}

// action makes an action of a function that takes a decoded input.
func action[P any](fn func(i *instance, ctx context.Context, in P) (any, error)) func(*instance, context.Context, ahp.Value) (any, error) {
	return func(i *instance, ctx context.Context, input ahp.Value) (any, error) {
		if err := checkCall(input); err != nil {
			return nil, err
		}
		if input == nil {
			input = ahp.Value(`{}`)
		}
		var in P
		if err := ahp.Unmarshal(input, &in); err != nil {
			return nil, canvas.Errorf(CodeInvalid, "the input does not fit: %v", err)
		}
		return fn(i, ctx, in)
	}
}

// Invoke runs an action of the agent.
func (i *instance) Invoke(ctx context.Context, name string, input ahp.Value) (ahp.Value, error) {
	do := actions[name]
	if do == nil {
		return nil, canvas.Errorf(canvas.CodeNoHandler, "this canvas has no action %q", name)
	}
	value, err := do(i, ctx, input)
	if err != nil || value == nil {
		return nil, err
	}
	if raw, ok := value.(ahp.Value); ok {
		return raw, nil
	}
	return ahp.Marshal(value)
}

// changed is the answer to a change.
type changed struct {
	Revision int64 `json:"revision"`
	Files    int   `json:"files"`
	Bytes    int   `json:"bytes"`
}

func changedTo(rev revision) changed { return changed{rev.N, len(rev.files), rev.files.bytes()} }

// staging is what calls of write_files with more: true have gathered.
type staging struct {
	change
	bytes int
}

// change is a change of files: written ones and deleted ones.
type change struct {
	files  map[string]given
	delete []string
}

// apply returns the files after a change of base, and the contents that are new. mu is
// held.
func (c change) apply(i *instance, base tree) (tree, map[string][]byte, error) {
	next, contents := tree{}, map[string][]byte{}
	maps.Copy(next, base)
	for _, path := range c.delete {
		if _, ok := next[path]; !ok {
			return nil, nil, canvas.Errorf(CodeNoFile, "%q cannot be deleted, because the canvas has no such file; it has %s", path, some(base.paths()))
		}
		delete(next, path)
	}
	for path, g := range c.files {
		data := g.data
		if old, ok := base[path]; g.append && ok {
			before, err := i.blobs.get(old.Hash)
			if err != nil {
				return nil, nil, err
			}
			data = slices.Concat(before, data)
		}
		f := file{hashOf(data), len(data)}
		next[path], contents[f.Hash] = f, data
	}
	return next, contents, nil
}

// and returns the change with a later one after it.
func (c change) and(later change) change {
	all := change{files: maps.Clone(c.files), delete: slices.Clone(c.delete)}
	if all.files == nil {
		all.files = map[string]given{}
	}
	for path, g := range later.files {
		if before, ok := all.files[path]; ok && g.append {
			g = given{slices.Concat(before.data, g.data), before.append}
		}
		all.files[path] = g
	}
	for _, path := range later.delete {
		if _, ok := all.files[path]; ok {
			delete(all.files, path)
			continue
		}
		all.delete = append(all.delete, path)
	}
	return all
}

// writeInput is the input of write_files.
type writeInput struct {
	Files  map[string]ahp.Value `json:"files,omitzero"`
	Delete []string             `json:"delete,omitzero"`
	More   bool                 `json:"more,omitzero"`
}

func (i *instance) writeFiles(ctx context.Context, in writeInput) (any, error) {
	c := change{}
	var err error
	if c.files, err = decodeFiles(in.Files); err != nil {
		return nil, err
	}
	for _, path := range in.Delete {
		if path, err = cleanPath(path); err != nil {
			return nil, err
		}
		c.delete = append(c.delete, path)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.staged != nil {
		c = i.staged.and(c)
	}
	if in.More {
		return i.stage(c)
	}
	i.staged = nil
	next, contents, err := c.apply(i, i.rec.head().files)
	if err != nil {
		return nil, err
	}
	rev, err := i.revise(ctx, byAgent, what(c.files, c.delete, i.rec.head().N == 0), next, contents)
	if err != nil {
		return nil, err
	}
	return changedTo(rev), nil
}

// stage keeps a change for the next write_files. mu is held.
func (i *instance) stage(c change) (any, error) {
	s := &staging{change: c}
	for _, g := range c.files {
		s.bytes += len(g.data)
	}
	if s.bytes > MaxBytes || len(c.files) > MaxFiles {
		i.staged = nil
		return nil, canvas.Errorf(CodeTooLarge, "%d files with %d bytes are waiting, more than a canvas can have (%d, %d); they were dropped, begin again", len(c.files), s.bytes, MaxFiles, MaxBytes)
	}
	i.staged = s
	return struct {
		Waiting int `json:"waiting"`
		Bytes   int `json:"bytes"`
	}{len(c.files), s.bytes}, nil
}

// what describes a change for people.
func what(files map[string]given, deleted []string, first bool) string {
	names := slices.Sorted(maps.Keys(files))
	verb := "Wrote "
	if len(names) == 0 {
		names, verb = deleted, "Deleted "
	}
	text := verb + strings.Join(names, ", ")
	switch {
	case first:
		text = "Made the page"
	case len(names) > 3:
		text = fmt.Sprintf("%s%d files", verb, len(names))
	}
	if len(deleted) > 0 && len(files) > 0 {
		text += fmt.Sprintf(", deleted %d", len(deleted))
	}
	return clip(text, 120)
}

// clip cuts a text to at most n characters.
func clip(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

func (i *instance) revert(ctx context.Context, in struct {
	Revision int64 `json:"revision"`
}) (any, error) {
	rev, err := i.goBack(ctx, byAgent, in.Revision)
	if err != nil {
		return nil, err
	}
	return changedTo(rev), nil
}

// goBack makes the files of an earlier revision the next one.
func (i *instance) goBack(ctx context.Context, by string, to int64) (revision, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	old, err := i.rec.at(to)
	if err != nil {
		return revision{}, err
	}
	return i.revise(ctx, by, fmt.Sprintf("Went back to revision %d", to), old.files, nil)
}

// noAnswer is how long a call waits for a page that is open but takes no actions.
const noAnswer = 5 * time.Second

func (i *instance) call(ctx context.Context, in struct {
	Name  string    `json:"name"`
	Input ahp.Value `json:"input,omitzero"`
}) (any, error) {
	i.awaitCurrent(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		if i.staysSilent(ctx) {
			cancel(canvas.Errorf(CodeNoActions, "the page is open, but it takes no actions: its module script must import { onAction } from \"/.ahp/canvas.js\" and call onAction(%q, …), and must not fail before it does", in.Name))
		}
	})
	defer watch.Wait()
	defer cancel(nil)
	return i.Pages.Invoke(ctx, in.Name, in.Input)
}

// staysSilent waits until pages have been open for noAnswer of which none takes actions.
// It returns false once ctx is done.
func (i *instance) staysSilent(ctx context.Context) bool {
	tick := time.NewTicker(noAnswer / 10)
	defer tick.Stop()
	for n := 0; n <= 10; n++ {
		if !i.silent() {
			n = 0
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
