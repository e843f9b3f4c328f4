package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/remote"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// cardTimeout limits how long a start waits for the cards of remote agents.
const cardTimeout = 2 * time.Second

// a2uiOptions are the flags about remote A2UI agents.
type a2uiOptions struct {
	agents []string // --a2ui-agent: name=URL
	tokens []string // --a2ui-agent-token: name=file
}

func (o *a2uiOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.agents, "a2ui-agent", nil, "remote agent that draws with A2UI, over A2A (https) or a WebSocket (wss), on this machine also http or ws: `name=URL`, as in finder=http://127.0.0.1:10002 (repeatable)")
	f.StringArrayVar(&o.tokens, "a2ui-agent-token", nil, "`name=file` with the token that this agent gets as Authorization: Bearer (repeatable)")
}

// pair splits an argument of the form name=value.
func pair(flag, arg, want string) (name, value string, err error) {
	name, value, ok := strings.Cut(arg, "=")
	if !ok || !a2uicanvas.ValidName(name) || value == "" {
		return "", "", term.Usagef("--%s %q: want %s; a name has lower-case letters, digits and hyphens, at most 32", flag, arg, want)
	}
	return name, value, nil
}

// dial returns the remote agents. It connects to none.
func (o *a2uiOptions) dial() (all []*remote.Agent, err error) {
	secrets := map[string]string{}
	for _, arg := range o.tokens {
		name, file, err := pair("a2ui-agent-token", arg, "a name and a file, as in finder=./token")
		if err != nil {
			return nil, err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, term.Usagef("--a2ui-agent-token %q: %v", arg, err)
		}
		secrets[name] = strings.TrimSpace(string(raw))
	}
	for _, arg := range o.agents {
		name, url, err := pair("a2ui-agent", arg, "a name and a URL, as in finder=http://127.0.0.1:10002")
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(a *remote.Agent) bool { return a.Name() == name }) {
			return nil, term.Usagef("--a2ui-agent %q: there is an agent of this name already", name)
		}
		a, err := remote.New(remote.Options{Name: name, URL: url, Token: secrets[name]})
		if err != nil {
			return nil, term.Usagef("--a2ui-agent %s: %v", name, err)
		}
		delete(secrets, name)
		all = append(all, a)
	}
	for name := range secrets {
		return nil, term.Usagef("--a2ui-agent-token %s: there is no --a2ui-agent of this name", name)
	}
	return all, nil
}

// a2uiAgents are the A2UI canvases of a host.
type a2uiAgents struct {
	provider *a2uicanvas.Provider
	agents   []*remote.Agent
	notes    []string
}

// startA2UI registers canvas "a2ui", and one for each remote agent. An agent that cannot be
// reached is a note.
func startA2UI(ctx context.Context, h *host.Host, o a2uiOptions, logger *slog.Logger) (_ *a2uiAgents, err error) {
	agents, err := o.dial()
	if err != nil {
		return nil, err
	}
	a := &a2uiAgents{agents: agents}
	po := a2uicanvas.Options{Logger: logger}
	for _, agent := range agents {
		po.Agents = append(po.Agents, a2ui.Agent(agent))
	}
	a.provider = a2uicanvas.New(po)
	if _, err := h.Add(a.provider); err != nil {
		a.close()
		return nil, err
	}
	a.check(ctx)
	return a, nil
}

// check notes the agents that cannot be reached.
func (a *a2uiAgents) check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cardTimeout)
	defer cancel()
	notes := make([]string, len(a.agents))
	var wg sync.WaitGroup
	for n, agent := range a.agents {
		wg.Go(func() {
			switch info, err := agent.Check(ctx); {
			case err != nil:
				e, _ := errors.AsType[*a2ui.Error](err)
				if e == nil {
					e = a2ui.Errorf("", "it cannot be reached")
				}
				notes[n] = fmt.Sprintf("agent %s: %s; its canvas tries again when it is used", agent.Name(), e.Message)
			case !info.A2UI:
				notes[n] = fmt.Sprintf("agent %s does not say that it draws with A2UI v0.9", agent.Name())
			}
		})
	}
	wg.Wait()
	for _, note := range notes {
		if note != "" {
			a.notes = append(a.notes, note)
		}
	}
}

// close ends turns and connections.
func (a *a2uiAgents) close() {
	if a == nil {
		return
	}
	_ = a.provider.Close() // nil
	for _, agent := range a.agents {
		_ = agent.Close() // nil
	}
}
