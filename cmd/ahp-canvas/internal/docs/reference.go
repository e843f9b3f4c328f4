package docs

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Tables are what the reference is made from.
type Tables struct {
	// Errors are the codes of failures with what to do.
	Errors []Error
	// Metrics are the numbers of /metrics.
	Metrics []Metric
	// Protocol is what clients and hosts say to each other.
	Protocol Protocol
}

// Error is a code of a failure.
type Error struct {
	// Code is its stable name.
	Code string
	// Cause says what has happened.
	Cause string
	// Remedy says what to do.
	Remedy string
}

// Metric is a number that a host or a relay publishes.
type Metric struct {
	// Name is its name in /metrics.
	Name string
	// Kind is gauge or counter.
	Kind string
	// Help says what it counts.
	Help string
}

// commands yields the commands below root that people see, depth first, root included.
func commands(root *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) { visit(root, yield) }
}

func visit(cmd *cobra.Command, yield func(*cobra.Command) bool) bool {
	if cmd.Hidden || !yield(cmd) {
		return cmd.Hidden
	}
	for _, sub := range cmd.Commands() {
		if sub.Name() != "help" && !visit(sub, yield) {
			return false
		}
	}
	return true
}

// flags returns the flags of a command that its help shows, sorted by name.
func flags(cmd *cobra.Command) (all []*pflag.Flag) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f)
		}
	})
	return all
}

// flagText returns what a user types for a flag, and what it does.
func flagText(f *pflag.Flag) (typed, usage string) {
	argument, usage := pflag.UnquoteUsage(f)
	typed = "--" + f.Name
	if f.Shorthand != "" {
		typed = "-" + f.Shorthand + ", " + typed
	}
	if argument != "" {
		typed += " " + argument
	}
	if shown := f.DefValue; !slices.Contains([]string{"", "0", "0s", "false", "[]"}, shown) && !strings.Contains(usage, "(default") {
		usage += fmt.Sprintf(" (default %s)", shown)
	}
	return typed, usage
}

func commandsPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands and flags\n\nEvery command of this version. `--help` prints the same, for one command.\n")
	for cmd := range commands(root) {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n```\n%s\n```\n", cmd.CommandPath(), cmd.Short, cmd.UseLine())
		if cmd.Long != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", cmd.Long)
		}
		if cmd.Example != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", cmd.Example)
		}
		if all := flags(cmd); len(all) > 0 {
			b.WriteString("\n")
			for _, f := range all {
				typed, usage := flagText(f)
				fmt.Fprintf(&b, "- `%s`: %s\n", typed, escaped(usage))
			}
		}
	}
	return b.String()
}

func errorsPage(tables Tables) string {
	var b strings.Builder
	b.WriteString("# Errors\n\nA failure is printed as `code: what failed and why`. With `--json` it is one object on standard error. Exit status 1 is a failure, 2 is a command line that the program does not accept.\n\n")
	for _, e := range tables.Errors {
		fmt.Fprintf(&b, "- `%s`: %s %s\n", e.Code, escaped(e.Cause), escaped(e.Remedy))
	}
	b.WriteString("\nIf the message does not help, `ahp-canvas doctor` checks the host, the tokens, the browser and the folders.\n")
	return b.String()
}

func metricsPage(tables Tables) string {
	var b strings.Builder
	b.WriteString("# Metrics\n\n`--admin 127.0.0.1:9090` serves `/metrics` for Prometheus and `/healthz`, with `serve` and with `relay`. Names that begin with `go_` and `process_` are those of every Go program.\n\n")
	for _, m := range tables.Metrics {
		fmt.Fprintf(&b, "- `%s` (%s): %s\n", m.Name, m.Kind, escaped(m.Help))
	}
	b.WriteString("\nA dashboard for Grafana and alert rules for Prometheus are in `cmd/ahp-canvas/packaging/monitoring` of the sources. [What to do when an alert fires](topic:operate#when-an-alert-fires).\n")
	return b.String()
}

// Protocol are the tables of AHP.
type Protocol struct {
	// Methods are the requests and notifications.
	Methods []Method
	// Channels are the kinds of channels.
	Channels []Channel
	// Codes are the codes of JSON-RPC errors with their names.
	Codes []Method
}

// Method is a request, a notification, an action or an error code.
type Method struct {
	// Name is its name on the wire.
	Name string
	// Direction says who sends it; "" for an error code.
	Direction string
	// Members are the members of its parameters; those that can be absent end in "?".
	Members []string
}

// Channel is a kind of channel.
type Channel struct {
	// Name is its name, Scheme that of its URIs.
	Name, Scheme string
	// Members are the members of its state.
	Members []string
	// Actions are the actions that change the state.
	Actions []Method
}

func protocolPage(p Protocol) string {
	var b strings.Builder
	b.WriteString("# The protocol\n\nClients and hosts exchange JSON-RPC 2.0 over a WebSocket at `/ahp`. These are the messages of this version. `ahp/PROTOCOL.md` and `canvas/PROTOCOL.md` in the sources say what they mean, `schema/REFERENCE.md` describes each member, and `schema` has it as JSON Schema. A member with `?` can be absent.\n\n## Requests and notifications\n\n")
	for _, m := range p.Methods {
		b.WriteString(methodLine(m))
	}
	for _, c := range p.Channels {
		fmt.Fprintf(&b, "\n## Channels %s:\n\nThe state of a %s: %s.\n\n", c.Scheme, c.Name, members(c.Members))
		for _, m := range c.Actions {
			b.WriteString(methodLine(m))
		}
	}
	b.WriteString("\n## Error codes\n\n")
	for _, m := range p.Codes {
		b.WriteString(methodLine(m))
	}
	return b.String()
}

func methodLine(m Method) string {
	line := "- `" + m.Name + "`"
	if m.Direction != "" {
		line += " (" + m.Direction + ")"
	}
	if len(m.Members) > 0 {
		line += ": " + members(m.Members)
	}
	return line + "\n"
}

func members(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

// escaped keeps Markdown from reading a plain text as its own.
func escaped(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "`", "\\`", "\n", " ").Replace(text)
}
