package reach

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// probeTimeout is how long Narrow waits for a host, and maxProbes how many hosts it asks.
const (
	probeTimeout = 10 * time.Second
	maxProbes    = 32
)

// Narrow returns the target with the one running host that has what the command is about,
// and says on a terminal which one it took. If several hosts have it, the error names
// them. The target is returned unchanged if the command line names a host or a token, if
// at most one host runs, and if no host has it: then the newest host says what is wrong.
func (t Target) Narrow(ctx context.Context, env *term.Env, what string, has func(context.Context, *mcp.Client) bool) (Target, error) {
	if given, err := t.Token(env); t.Host != "" || given != "" || err != nil {
		return t, err
	}
	hosts, err := Running(userdir.Runtime(env.Getenv))
	if err != nil || len(hosts) < 2 {
		return t, nil // Resolve reports an error
	}
	having := whichHave(ctx, env, hosts[:min(len(hosts), maxProbes)], has)
	switch len(having) {
	case 0:
		return t, nil
	case 1:
		if term.IsTerminal(env.Err) {
			env.Note(fmt.Sprintf("using %s, the only running host with %s.", having[0].Describe(), what))
		}
		t.Host = strconv.Itoa(having[0].PID)
		return t, nil
	}
	return t, inSeveral(what, having)
}

// whichHave asks all hosts at once. A host that does not answer has nothing.
func whichHave(ctx context.Context, env *term.Env, hosts []Published, has func(context.Context, *mcp.Client) bool) []Published {
	defer env.Progress("Asking the running hosts")()
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	found := make([]bool, len(hosts))
	var all sync.WaitGroup
	for i, h := range hosts {
		all.Go(func() {
			c, err := hostOf(h, "").Dial(ctx, env)
			if err != nil {
				return
			}
			defer c.Close()
			found[i] = has(ctx, c)
		})
	}
	all.Wait()
	var having []Published
	for i, h := range hosts {
		if found[i] {
			having = append(having, h)
		}
	}
	return having
}

// inSeveral is the error for something that several hosts have.
func inSeveral(what string, hosts []Published) error {
	var names []string
	for _, h := range hosts {
		name := h.Label()
		if slices.Contains(names, name) { // two hosts that started at the same time
			name = strconv.Itoa(h.PID)
		}
		names = append(names, name)
	}
	return &canvas.Error{
		Code: term.CodeAmbiguousHost, Candidates: names,
		Message: fmt.Sprintf("%d running hosts have %s: %s", len(hosts), what, strings.Join(names, " and ")),
	}
}
