package term

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Args accepts exactly the named arguments.
func Args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > len(names):
			return &usageError{fmt.Sprintf("%s does not accept the argument %q", cmd.Name(), args[len(names)]), cmd}
		case len(args) < len(names):
			return &usageError{fmt.Sprintf("%s needs %s", cmd.Name(), strings.Join(names[len(args):], " and ")), cmd}
		}
		return nil
	}
}

// Run makes a function the body of a command. Its errors are failures, unless they come
// from Usagef; any other error that cobra returns is wrong usage.
func Run(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd.Context(), args)
		if u, ok := errors.AsType[*usageError](err); ok {
			return &usageError{u.text, cmd}
		}
		if err != nil {
			return &failure{err}
		}
		return nil
	}
}

// Group makes cmd a command that only has subcommands: without one it prints its help,
// and another name is wrong usage.
func Group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(subcommands...)
	return cmd
}

// UnknownSubcommand accepts no arguments: an argument of a group is an unknown command.
func UnknownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usageError{fmt.Sprintf("%s has no command %q", cmd.Name(), args[0]), cmd}
}

// Must panics on a mistake in the definition of a command, which the first start of the
// program shows.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// How cobra words what is wrong with required flags, with flags that belong together, and
// with a flag's value.
var (
	requiredFlags = regexp.MustCompile(`^required flag\(s\) "(.+)" not set$`)
	flagGroup     = regexp.MustCompile(`the group \[(.+)\] .* missing \[(.+)\]$`)
	flagValue     = regexp.MustCompile(`^invalid argument "(.*)" for ".*--(.+)" flag: (.*)$`)
)

// CommandError words cobra's errors about missing flags like Args does. It returns other errors
// unchanged.
func CommandError(cmd *cobra.Command, err error) error {
	dashed := func(names []string) string { return "--" + strings.Join(names, " and --") }
	if err == nil {
		return nil
	}
	if m := requiredFlags.FindStringSubmatch(err.Error()); m != nil {
		return &usageError{cmd.Name() + " needs " + dashed(strings.Split(m[1], `", "`)), cmd}
	}
	m := flagGroup.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	missing := strings.Fields(m[2])
	given := slices.DeleteFunc(strings.Fields(m[1]), func(name string) bool { return slices.Contains(missing, name) })
	return &usageError{cmd.Name() + " needs " + dashed(missing) + " with " + dashed(given), cmd}
}

// FlagError words an error about a flag's value without the names of Go's types.
func FlagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if m := flagValue.FindStringSubmatch(text); m != nil {
		wrong := strings.TrimPrefix(m[3], fmt.Sprintf("%q: ", m[1]))
		if strings.HasPrefix(wrong, "slog: ") {
			wrong = "want debug, info, warn or error"
		}
		if kind := flagKinds[cmd.Flag(m[2]).Value.Type()]; kind != "" {
			wrong = "want " + kind
		}
		text = fmt.Sprintf("--%s %q: %s", m[2], m[1], wrong)
	}
	return &usageError{text, cmd}
}

// flagKinds are what flags accept, by pflag's name of their type. Other types say it in
// their errors.
var flagKinds = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a time, as in 30s or 5m",
}
