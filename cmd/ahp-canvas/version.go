package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// version, commit and date are set by the linker for releases; date is that of the commit,
// so that two builds of it are equal.
var version, commit, date string

// build says how the program was built. It is version --json.
type build struct {
	Version string `json:"version"`
	// Commit is the revision of the sources, with "-dirty" if they had changes; "" if the
	// build does not know it. Date is that of the commit.
	Commit string `json:"commit,omitzero"`
	Date   string `json:"date,omitzero"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
}

// thisBuild describes the running program: as a release states it, and otherwise as the go
// command recorded it.
func thisBuild() build {
	b := build{Version: version, Commit: commit, Date: date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.complete(info)
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	return b
}

// complete fills in what a release did not state.
func (b *build) complete(info *debug.BuildInfo) {
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if b.Commit != "" {
		return
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	b.Commit, b.Date = set["vcs.revision"], set["vcs.time"]
	if set["vcs.modified"] == "true" {
		b.Commit += "-dirty"
	}
}

// String is the build for people.
func (b build) String() string {
	text := "ahp-canvas " + b.Version
	if b.Commit != "" {
		text += fmt.Sprintf("\ncommit %s of %s", b.Commit, b.Date)
	}
	return text + fmt.Sprintf("\n%s, %s/%s", b.Go, b.OS, b.Arch)
}

func versionCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how the program was built",
		Long: `Print the version, the commit with its date, and the version of Go.

With --json the output is {"version","commit","date","go","os","arch"}.`,
		Args: term.Args(),
		RunE: term.Run(func(context.Context, []string) error {
			if env.JSON {
				return env.PrintJSON(thisBuild())
			}
			_, err := fmt.Fprintln(env.Out, thisBuild())
			return err
		}),
	}
	env.JSONFlag(cmd)
	return cmd
}
