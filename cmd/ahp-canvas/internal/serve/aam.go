package serve

import (
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamcanvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// aamOptions are the flags about AAM.
type aamOptions struct {
	site   string // --aam-site: the file of the site half
	client aamClientOptions
}

func (o *aamOptions) flags(cmd *cobra.Command) {
	o.client.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.site, "aam-site", "", "`file` that says which canvas actions agents of other people can use, as \"ahp-canvas aam init\" writes one")
	term.Must(cmd.MarkFlagFilename("aam-site", "json"))
}

// enabled reports whether the host has anything of AAM.
func (o *aamOptions) enabled() bool { return o.site != "" || o.client.on }

// aamParts is what a host has of AAM.
type aamParts struct {
	provider *aamcanvas.Provider
	site     *aamSite  // nil without --aam-site
	sites    *aamSites // nil without --aam
}

// aamDir is the folder of AAM in a state folder; "" keeps nothing.
func aamDir(dir string) (string, error) {
	if dir == statedir.Memory {
		return "", nil
	}
	dir = filepath.Join(dir, "aam")
	return dir, userdir.Ensure(dir)
}

// startAAM registers the canvases of AAM, and serves the site. Without flags it returns nil.
func startAAM(h *host.Host, o aamOptions, stateDir string, logger *slog.Logger) (_ *aamParts, err error) {
	if !o.enabled() {
		return nil, nil
	}
	dir, err := aamDir(stateDir)
	if err != nil {
		return nil, err
	}
	a := &aamParts{}
	po := aamcanvas.Options{Logger: logger}
	var pin *aam.PIN
	if dir != "" {
		pin = aam.OpenPIN(filepath.Join(dir, "pin"), nil)
		po.PIN = pin
	}
	if o.client.on {
		if a.sites, err = openAAMSites(o.client, dir, pin); err != nil {
			return nil, err
		}
		po.Sites = a.sites.canvas(o.client)
	}
	if o.site != "" {
		if a.site, err = openAAMSite(h, o.site, dir, logger); err != nil {
			a.sites.close()
			return nil, err
		}
		po.Agents = a.site.site
	}
	a.provider = aamcanvas.New(po)
	if _, err := h.Add(a.provider); err != nil {
		a.close()
		return nil, err
	}
	a.site.serve(logger)
	return a, nil
}

// notes are remarks for the person who started the host.
func (a *aamParts) notes() (notes []string) {
	if a == nil {
		return nil
	}
	if a.sites != nil {
		notes = append(notes, a.sites.notes...)
	}
	if a.site != nil {
		notes = append(notes, a.site.notes...)
	}
	return notes
}

// defaults are the canvases that are shown if the user names none.
func (a *aamParts) defaults() []canvas.OpenArgs {
	if a == nil || a.site == nil {
		return nil
	}
	return []canvas.OpenArgs{{Session: host.DefaultSession, ExtensionID: aamcanvas.ExtensionID, CanvasID: aamcanvas.AgentsID, InstanceID: aamcanvas.AgentsID}}
}

// close ends the site's listener, the canvases and the site's store.
func (a *aamParts) close() {
	if a == nil {
		return
	}
	a.site.stop()
	var err error
	if a.provider != nil {
		err = a.provider.Close()
	}
	a.sites.close()
	_ = errors.Join(err, a.site.close()) // the log has it
}
