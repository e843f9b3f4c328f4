package drive

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

func hostsCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hosts",
		Short: "List the running hosts",
		Long: `List the hosts that you run on this machine, the one that started last first. It
is the host that commands use without --host. To choose another one, give --host
its name, its process id or its port.

With --json each line is one object:
  {"name","pid","page","ahp","mcp","session","started","default"}
It holds no tokens; "ahp-canvas link" prints the link with one.`,
		Example: `  ahp-canvas hosts
  ahp-canvas ls --host notes`,
		Args: term.Args(),
		RunE: term.Run(func(context.Context, []string) error { return hosts(env) }),
	}
	env.JSONFlag(cmd)
	return cmd
}

// hostsLine is one line of hosts --json.
type hostsLine struct {
	Name    string    `json:"name"`
	PID     int       `json:"pid"`
	Page    string    `json:"page"`
	AHP     string    `json:"ahp"`
	MCP     string    `json:"mcp"`
	Session string    `json:"session"`
	Started time.Time `json:"started"`
	Default bool      `json:"default"`
}

func hosts(env *term.Env) error {
	running, err := reach.Running(userdir.Runtime(env.Getenv))
	if err != nil {
		return fmt.Errorf("cannot look for running hosts: %w", err)
	}
	if env.JSON {
		for i, h := range running {
			line := hostsLine{h.Label(), h.PID, h.Page, h.AHP, h.MCP, h.Session, h.Started, i == 0}
			if err := env.PrintJSON(line); err != nil {
				return err
			}
		}
		return nil
	}
	if len(running) == 0 {
		_, err := fmt.Fprintln(env.Out, "No host is running. Start one with: ahp-canvas serve")
		return err
	}
	table := term.Table{Head: []string{"HOST", "ADDRESS", "PROCESS", "STARTED", ""}}
	for i, h := range running {
		mark := ""
		if i == 0 && len(running) > 1 {
			mark = "used without --host"
		}
		table.Add(h.Label(), reach.Host{MCP: h.MCP}.Address(), strconv.Itoa(h.PID), startedText(h.Started, time.Now()), mark)
	}
	table.Print(env.Out)
	return nil
}

// startedText is the time of day for a host that started within a day, and otherwise the
// date too.
func startedText(at, now time.Time) string {
	if at = at.Local(); now.Sub(at) < 24*time.Hour {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04")
}
