package serve

import (
	"errors"
	"log/slog"
	"net/http"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/aapcanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/notify"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Values of --aap-open.
const (
	aapOpenChanged = "changed"
	aapOpenNone    = "none"
)

// aapOptions are the flags about AAP agents.
type aapOptions struct {
	root   string   // --aap
	agents []string // --aap-agent: name=folder
	open   string   // --aap-open
	notify string   // --aap-notify
	given  func(name string) bool
}

func (o *aapOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.root, "aap", "", "`folder` of AAP agents, as in ~/.aimaestro/agents: the pages that they write are canvases, and what people do in them is stored for the agents")
	f.StringArrayVar(&o.agents, "aap-agent", nil, "one more AAP agent and its canvas folder: `name=folder` (repeatable)")
	f.StringVar(&o.open, "aap-open", aapOpenChanged, "`which` pages of AAP agents to open automatically: changed (new or changed since the start) or none")
	f.StringVar(&o.notify, "aap-notify", "", "`program` to run for each action of a person in an AAP page, with the line on standard input; or tmux, to type the line into the session with the agent's name")
	o.given = f.Changed
	term.Must(cmd.MarkFlagDirname("aap"))
	term.Must(cmd.RegisterFlagCompletionFunc("aap-open", cobra.FixedCompletions([]cobra.Completion{aapOpenChanged, aapOpenNone}, cobra.ShellCompDirectiveNoFileComp)))
}

// enabled reports whether there are AAP agents.
func (o *aapOptions) enabled() bool { return o.root != "" || len(o.agents) > 0 }

// check rejects values that no host can start with.
func (o *aapOptions) check() error {
	if o.open != aapOpenChanged && o.open != aapOpenNone && o.given != nil {
		return term.Usagef("--aap-open %q: want changed or none", o.open)
	}
	if !o.enabled() && o.given != nil {
		for _, name := range []string{"aap-open", "aap-notify"} {
			if o.given(name) {
				return term.Usagef("--%s needs --aap or --aap-agent", name)
			}
		}
	}
	return nil
}

// folders returns the folders of --aap-agent, by name.
func (o *aapOptions) folders() (map[string]string, error) {
	dirs := map[string]string{}
	for _, arg := range o.agents {
		name, dir, found := strings.Cut(arg, "=")
		if !found || name == "" || dir == "" {
			return nil, term.Usagef("--aap-agent %q: want a name and a folder, as in builder=./canvas", arg)
		}
		if dirs[name] != "" {
			return nil, term.Usagef("--aap-agent %q: there is an agent of this name already", arg)
		}
		dirs[name] = dir
	}
	return dirs, nil
}

// way returns how agents are notified; nil if they are not.
func (o *aapOptions) way() (notify.Way, error) {
	if o.notify == "" {
		return nil, nil
	}
	program, err := exec.LookPath(o.notify)
	if err != nil {
		return nil, term.Usagef("--aap-notify %q: %v; name a program by its absolute path, or one that is in PATH", o.notify, err)
	}
	if o.notify == "tmux" {
		return notify.Tmux(program), nil
	}
	return notify.Program(program), nil
}

// aapAgents are the AAP agents of a host.
type aapAgents struct {
	store    *aap.Store
	provider *aapcanvas.Provider
	notifier *notify.Notifier
}

// startAAP registers the canvases of AAP agents, and serves AAP's HTTP API. Without
// agents it returns nil.
func startAAP(h *host.Host, o aapOptions, logger *slog.Logger) (_ *aapAgents, err error) {
	if !o.enabled() {
		return nil, nil
	}
	dirs, err := o.folders()
	if err != nil {
		return nil, err
	}
	way, err := o.way()
	if err != nil {
		return nil, err
	}
	a := &aapAgents{}
	if a.store, err = aap.Open(aap.Options{Root: o.root, Agents: dirs, Logger: logger}); err != nil {
		return nil, term.Usagef("--aap and --aap-agent: %s", strings.TrimPrefix(err.Error(), "aap: "))
	}
	po := aapcanvas.Options{
		Store: a.store, Open: h.Canvases().Open, Raise: h.Canvases().Raise,
		Session: host.DefaultSession, Changed: o.open == aapOpenChanged, Logger: logger,
	}
	if way != nil {
		a.notifier = notify.New(way, logger)
		po.Notify = a.notifier.Notify
	}
	a.provider = aapcanvas.New(po)
	if _, err := h.Add(a.provider); err != nil {
		a.close()
		return nil, err
	}
	h.Handle(aap.Prefix, aap.NewHandler(a.store, isPerson), access.Roles()...)
	return a, nil
}

// isPerson reports whether a request can be a person's: only then does it submit an
// interaction.
func isPerson(r *http.Request) bool {
	grant, _ := host.GrantFrom(r.Context())
	return grant.Role == host.RoleView || grant.Role == host.RoleClient
}

// notes are remarks for the person who started the host.
func (a *aapAgents) notes() []string {
	if a == nil {
		return nil
	}
	return a.store.Notes()
}

// defaults are the canvases that are shown if the user names none.
func (a *aapAgents) defaults() []canvas.OpenArgs {
	if a == nil {
		return nil
	}
	return []canvas.OpenArgs{{Session: host.DefaultSession, CanvasID: aapcanvas.PagesID, InstanceID: aapcanvas.PagesID}}
}

// close ends what works for the agents.
func (a *aapAgents) close() {
	if a == nil {
		return
	}
	var errs []error
	if a.provider != nil {
		errs = append(errs, a.provider.Close())
	}
	if a.notifier != nil {
		errs = append(errs, a.notifier.Close())
	}
	_ = errors.Join(append(errs, a.store.Close())...) // they have no errors
}
