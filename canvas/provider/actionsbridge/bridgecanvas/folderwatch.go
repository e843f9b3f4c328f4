package bridgecanvas

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
)

// watchInterval is how often actions.json is looked at.
const watchInterval = 500 * time.Millisecond

// watch begins to look for edits of actions.json. The file was read with this info.
func (f *Folder) watch(info fs.FileInfo) {
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	f.watched.Go(func() {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				info = f.look(info)
			case <-ctx.Done():
				return
			}
		}
	})
}

// look reads actions.json if it is not the file that was read before.
func (f *Folder) look(before fs.FileInfo) fs.FileInfo {
	now, err := f.root.Stat(ActionsFile)
	if err == nil && before != nil && sameFile(before, now) {
		return before
	}
	if err != nil && before == nil {
		return nil
	}
	raw, info, err := readActions(f.root)
	f.edited(raw, err)
	if err != nil {
		return nil
	}
	return info
}

func sameFile(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// edited declares the tools of an edited actions.json. While the file is invalid, nothing
// can be called, and the canvas's status says why; what was declared stays listed.
func (f *Folder) edited(raw []byte, err error) {
	var d *description
	if err == nil {
		d, err = describe(f.root, raw)
	}
	if err == nil {
		err = f.declare(d)
	}
	invalid, isFaulty := errors.AsType[*faulty](err)
	if err != nil && !isFaulty {
		invalid = &faulty{raw, []fault{{"", err.Error()}}}
	}
	f.mu.Lock()
	f.invalid = invalid
	f.mu.Unlock()
	for _, i := range f.open() {
		i.redeclared()
	}
}

// declare makes a description the current one and declares its tools. On an error the one
// before stays.
func (f *Folder) declare(d *description) error {
	decl := f.declaration(d)
	if err := declarable(decl); err != nil {
		return err
	}
	f.mu.Lock()
	before, setter := f.current, f.setter
	f.current = d
	f.mu.Unlock()
	if setter == nil || ahp.Equal(ahp.MustMarshal(f.declaration(before)), ahp.MustMarshal(decl)) {
		return nil
	}
	err := setter.Set(decl)
	if err != nil {
		f.mu.Lock()
		f.current = before
		f.mu.Unlock()
	}
	return err
}

// Watch makes r declare what an edited actions.json has.
func (f *Folder) Watch(r Setter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setter = r
}

// declarable returns what a host would refuse about a declaration.
func declarable(d canvas.Declaration) error {
	limits := check.Limits{Limits: canvas.DefaultLimits()}
	_, err := limits.Declarations([]canvas.Declaration{d})
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return errors.New(e.Message)
	}
	return err
}
