package docs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Command returns docs, with its subcommands. tables are what the reference is made from.
func Command(env *term.Env, tables Tables) *cobra.Command {
	var web bool
	cmd := &cobra.Command{
		Use:   "docs [TOPIC]",
		Short: "Read the documentation",
		Long: `Print a topic of the documentation, or list the topics.

With --web the topics are pages on this machine until Ctrl-C; the command prints
the address. "docs export" writes the same pages into a folder.`,
		Example: "  ahp-canvas docs\n  ahp-canvas docs start\n  ahp-canvas docs --web",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(cmd.Root(), tables), cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = term.Run(func(ctx context.Context, args []string) error {
		b := newBook(cmd.Root(), tables)
		topic := append(args, "")[0]
		if _, ok := b.find(topic); topic != "" && !ok {
			return term.Usagef("there is no topic %q; %q lists them", topic, "ahp-canvas docs")
		}
		if web {
			return b.serve(ctx, env, topic)
		}
		return b.print(env, topic)
	})
	cmd.Flags().BoolVar(&web, "web", false, "show the topics in a browser, at an address of this machine")
	cmd.AddCommand(exportCommand(tables), manCommand())
	return cmd
}

func exportCommand(tables Tables) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export FOLDER",
		Short:   "Write the documentation as web pages",
		Long:    "Write each topic as a web page into a folder, with an index.html. The pages need\nno server and load nothing from elsewhere.",
		Example: "  ahp-canvas docs export ./site",
		Args:    term.Args("FOLDER"),
	}
	cmd.RunE = term.Run(func(_ context.Context, args []string) error {
		return newBook(cmd.Root(), tables).export(args[0])
	})
	return cmd
}

func manCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages",
		Long:    "Write a manual page for each command into a folder. The page of serve is\nahp-canvas-serve.1; read it with: man ./ahp-canvas-serve.1",
		Example: "  ahp-canvas docs man ./man",
		Args:    term.Args("FOLDER"),
	}
	cmd.RunE = term.Run(func(_ context.Context, args []string) error { return writeMan(cmd.Root(), args[0]) })
	return cmd
}

// topic is one page.
type topic struct {
	name, title, markdown string
}

// book is all topics, in the order in which they are listed.
type book []topic

// order lists the topics that come first; the others follow in the order of their names.
var order = []string{"start", "canvases", "neighbors", "relay", "operate", "security", "architecture", "commands", "errors", "metrics", "protocol"}

func newBook(root *cobra.Command, tables Tables) book {
	var b book
	for name, text := range pages() {
		b = append(b, newTopic(name, text))
	}
	b = append(b, newTopic("commands", commandsPage(root)), newTopic("errors", errorsPage(tables)), newTopic("metrics", metricsPage(tables)), newTopic("protocol", protocolPage(tables.Protocol)))
	slices.SortFunc(b, func(x, y topic) int {
		return cmp.Or(cmp.Compare(place(x.name), place(y.name)), cmp.Compare(x.name, y.name))
	})
	return b
}

func place(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// newTopic takes the title from the first line, which is a heading.
func newTopic(name, text string) topic {
	title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	return topic{name, title, text}
}

func names(root *cobra.Command, tables Tables) (all []string) {
	for _, t := range newBook(root, tables) {
		all = append(all, t.name+"\t"+t.title)
	}
	return all
}

func (b book) find(name string) (topic, bool) {
	i := slices.IndexFunc(b, func(t topic) bool { return t.name == name })
	if i < 0 {
		return topic{}, false
	}
	return b[i], true
}

// print prints a topic, or the list of topics.
func (b book) print(env *term.Env, name string) error {
	if t, ok := b.find(name); ok {
		_, err := fmt.Fprint(env.Out, terminalText(t.markdown, min(env.Columns(), 100), env.Style()))
		return err
	}
	for _, t := range b {
		if _, err := fmt.Fprintf(env.Out, "%s  %s\n", env.Style().Bold(term.Pad(t.name, 12)), t.title); err != nil {
			return err
		}
	}
	env.Hint("Read one with: ahp-canvas docs TOPIC")
	return nil
}
