package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/remote"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

const (
	maxTokenFile = 16 << 10
	cardTimeout  = 3 * time.Second // for the cards of all remote agents at the start
)

// a2uiOptions are the flags about A2UI agents.
type a2uiOptions struct {
	agents []string // --a2ui-agent: name=URL
	tokens []string // --a2ui-agent-token: name=file
}

// flags adds the flags to a command.
func (o *a2uiOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.agents, "a2ui-agent", nil, "remote A2UI agent to offer as a canvas: `name=URL` of an A2A agent (https, or http on this machine) or of a WebSocket (wss, or ws on this machine); what people enter there goes to it alone (repeatable)")
	f.StringArrayVar(&o.tokens, "a2ui-agent-token", nil, "bearer token of an A2UI agent: `name=file` (repeatable)")
}

// check rejects values that no host can start with.
func (o *a2uiOptions) check() error {
	_, err := o.open()
	return err
}

// open returns the remote agents. It connects to none.
func (o *a2uiOptions) open() ([]*remote.Agent, error) {
	tokens, err := o.readTokens()
	if err != nil {
		return nil, err
	}
	var agents []*remote.Agent
	names := map[string]bool{}
	for _, arg := range o.agents {
		name, url, ok := strings.Cut(arg, "=")
		if !ok || !remote.ValidName(name) {
			return nil, term.Usagef("--a2ui-agent %q: want a name of up to 32 lower-case letters, digits and dashes, and a URL, as in finder=http://127.0.0.1:10002", name)
		}
		if names[name] {
			return nil, term.Usagef("--a2ui-agent: there is an agent %q already", name)
		}
		names[name] = true
		a, err := remote.New(remote.Options{Name: name, URL: url, Token: tokens[name]})
		if err != nil {
			return nil, term.Usagef("--a2ui-agent %s: %v", name, err)
		}
		agents = append(agents, a)
	}
	for name := range tokens {
		if !names[name] {
			return nil, term.Usagef("--a2ui-agent-token %s: there is no --a2ui-agent %s", name, name)
		}
	}
	return agents, nil
}

// readTokens returns the tokens by the names of agents.
func (o *a2uiOptions) readTokens() (map[string]string, error) {
	tokens := map[string]string{}
	for _, arg := range o.tokens {
		name, file, ok := strings.Cut(arg, "=")
		if !ok || file == "" || tokens[name] != "" {
			return nil, term.Usagef("--a2ui-agent-token %q: want the name of one agent and a file, as in finder=./token", name)
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, term.Usagef("--a2ui-agent-token %s: %v", name, err)
		}
		raw, err := os.ReadFile(file)
		token := strings.TrimSpace(string(raw))
		if err != nil || info.Size() > maxTokenFile || token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, term.Usagef("--a2ui-agent-token %s: want a file with one token", name)
		}
		tokens[name] = token
	}
	return tokens, nil
}

// a2uiAgents are the A2UI canvases of a host.
type a2uiAgents struct {
	provider *a2uicanvas.Provider
	agents   []*remote.Agent
}

// startA2UI registers the canvas "a2ui", and one for each remote agent.
func startA2UI(h *host.Host, o a2uiOptions, logger *slog.Logger) (*a2uiAgents, error) {
	agents, err := o.open()
	if err != nil {
		return nil, err
	}
	a := &a2uiAgents{agents: agents}
	po := a2uicanvas.Options{Logger: logger}
	for _, r := range agents {
		po.Agents = append(po.Agents, r)
	}
	a.provider = a2uicanvas.New(po)
	if _, err := h.Add(a.provider); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// notes reads the cards of the remote agents, and returns what is wrong with them. Their
// canvases are offered nevertheless: an agent can start later.
func (a *a2uiAgents) notes() []string {
	ctx, cancel := context.WithTimeout(context.Background(), cardTimeout)
	defer cancel()
	found := make([]string, len(a.agents))
	var wait sync.WaitGroup
	for n, r := range a.agents {
		wait.Go(func() {
			switch info, err := r.Check(ctx); {
			case err != nil:
				found[n] = fmt.Sprintf("A2UI agent %q is not reachable yet: %s", r.Name(), message(err))
			case !info.A2UI:
				found[n] = fmt.Sprintf("A2UI agent %q does not declare A2UI v0.9 in its card; it might not draw anything", r.Name())
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(found, func(s string) bool { return s == "" })
}

// close ends what works for the agents.
func (a *a2uiAgents) close() {
	if a == nil {
		return
	}
	if a.provider != nil {
		_ = a.provider.Close() // nil
	}
	for _, r := range a.agents {
		_ = r.Close() // nil
	}
}
