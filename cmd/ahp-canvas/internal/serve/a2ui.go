package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
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
	cardTimeout  = 10 * time.Second // to read an agent's card
	cardRetry    = time.Second      // until the card is read again; it doubles
	maxCardRetry = 30 * time.Second
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

	stop  context.CancelFunc // ends the goroutines of follow; nil before
	cards sync.WaitGroup     // those goroutines
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
	for _, r := range agents {
		a.provider.SetReached(r.Name(), false)
	}
	if _, err := h.Add(a.provider); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// follow reads the card of each remote agent until it has it, in goroutines that close
// ends. A host does not wait for agents: a canvas says that its agent has not been reached,
// until it is.
func (a *a2uiAgents) follow(note func(string)) {
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	for _, r := range a.agents {
		a.cards.Go(func() { a.readCard(ctx, r, note) })
	}
}

// readCard reads a card until it succeeds or ctx is canceled. Only the first failure is
// noted.
func (a *a2uiAgents) readCard(ctx context.Context, r *remote.Agent, note func(string)) {
	for retry, failed := cardRetry, false; ; retry = min(2*retry, maxCardRetry) {
		one, cancel := context.WithTimeout(ctx, cardTimeout)
		info, err := r.Check(one)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if !info.A2UI {
				note(fmt.Sprintf("A2UI agent %q does not declare A2UI v0.9 in its card; it might not draw anything", r.Name()))
			} else if failed {
				note(fmt.Sprintf("A2UI agent %q is reached", r.Name()))
			}
			a.provider.SetReached(r.Name(), true)
			return
		case !failed:
			note(fmt.Sprintf("A2UI agent %q is not reachable yet: %s", r.Name(), message(err)))
			failed = true
		}
		wait := time.NewTimer(retry)
		select {
		case <-wait.C:
		case <-ctx.Done():
		}
		wait.Stop()
	}
}

// close ends what works for the agents.
func (a *a2uiAgents) close() {
	if a == nil {
		return
	}
	if a.stop != nil {
		a.stop()
		a.cards.Wait()
	}
	if a.provider != nil {
		_ = a.provider.Close() // nil
	}
	for _, r := range a.agents {
		_ = r.Close() // nil
	}
}
