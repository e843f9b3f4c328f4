package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/form"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/page"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// bundled returns the canvases that come with the program, in the order of ls.
func bundled() []canvas.Declarer { return []canvas.Declarer{board.New(), form.New(), chart.New()} }

// folders are the canvases of --canvas, in its order.
type folders []*folder.Folder

// addPages adds the canvas "page", whose files are in the state folder.
func (s *starting) addPages(h *host.Host) (*page.Provider, error) {
	if s.noPage {
		return nil, nil
	}
	opts := page.Options{ListOpen: h.Canvases().ListOpen}
	if s.dir != statedir.Memory {
		opts.Dir = filepath.Join(s.dir, "pages")
	}
	p := page.New(opts)
	if _, err := h.Add(p); err != nil {
		return nil, err
	}
	if err := p.Collect(); err != nil {
		s.logger.Warn("files of closed pages not removed", "err", err)
	}
	return p, nil
}

// registerFolders registers the bundled canvases and a canvas for each folder. On error it
// also returns the folders that it has opened; the caller closes them.
func registerFolders(h *host.Host, dirs []string) (opened folders, err error) {
	ids := map[string]bool{page.CanvasID: true}
	for _, p := range bundled() {
		ids[p.Extension().ID] = true
		if _, err := h.Add(p); err != nil {
			return opened, err
		}
	}
	for _, dir := range dirs {
		f, err := folder.Open(dir)
		if err != nil {
			return opened, term.About("--canvas", err)
		}
		taken := ids[f.ID()]
		ids[f.ID()] = true
		opened = append(opened, f)
		if taken {
			return opened, term.Failf(term.CodeNotStarted, "--canvas %q: the id %q is already in use; set another id in its canvas.json", dir, f.ID())
		}
		if _, err := h.Add(f); err != nil {
			return opened, term.About("--canvas "+dir, err)
		}
	}
	return opened, nil
}

// defaults are the canvases to open if the user names none.
func (fs folders) defaults() []string {
	if len(fs) == 0 {
		return []string{board.CanvasID}
	}
	var ids []string
	for _, f := range fs {
		ids = append(ids, f.ID())
	}
	return ids
}

func (fs folders) close() {
	for _, f := range fs {
		_ = f.Close() // it was only read
	}
}

// openAll opens canvases under instance ids equal to their own names, so that a restart
// opens each only once (canvas/PROTOCOL.md section 9). An error names the flag that asked
// for the canvas; "" for none.
func (h *hosted) openAll(ctx context.Context, flag string, canvases []string) error {
	for _, id := range canvases {
		args := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: id, InstanceID: id}
		_, err := h.host.Canvases().Open(ctx, args)
		if err == nil || h.awaits(id, err) {
			continue
		}
		if flag != "" {
			err = term.About(flag+" "+id, err)
		}
		return err
	}
	return nil
}

// openDefaults opens what is shown if the user names no canvas. An extension or a web app
// that cannot be opened is a note: the host keeps running, and opens a web app when it
// runs.
func (h *hosted) openDefaults(ctx context.Context) (open []string, err error) {
	for _, args := range slices.Concat(h.apps.defaults(), h.aap.defaults(), h.aam.defaults(), h.bridge.defaults(), h.actions.defaults()) {
		_, err := h.host.Canvases().Open(ctx, args)
		if err != nil && !h.awaits(args.CanvasID, err) {
			h.notes = append(h.notes, fmt.Sprintf("canvas %q could not be opened: %s", args.CanvasID, message(err)))
			continue
		}
		open = append(open, args.CanvasID)
	}
	if len(open) == 0 || len(h.folders) > 0 {
		own := h.folders.defaults()
		open = append(own, open...)
		return open, h.openAll(ctx, "", own)
	}
	return open, nil
}
