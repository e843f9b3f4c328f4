package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ahp-canvas/ahp-canvas/testcases/built"
)

//go:embed survey.js
var script string

// errDiffers is returned if an app does not work in a canvas as it does directly.
var errDiffers = errors.New("not everything works as directly")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "survey:", err)
		os.Exit(1)
	}
}

// command runs the survey that the arguments ask for.
func command(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("survey", flag.ContinueOnError)
	folder := f.String("apps", "testcases/survey/corpus", "`folder` of apps")
	only := f.String("only", "", "`names` of apps, with commas between; without it, all")
	more := f.String("extensions", "", "`folder` of extensions, in place of apps")
	cache := f.String("cache", filepath.Join(os.TempDir(), "ahp-survey"), "`folder` for fetched apps")
	binary := f.String("binary", "", "ahp-canvas `program` to run; without it, the program is built from this module")
	apart := f.Bool("networks", false, "put the relay and the people in separate networks (Linux, root)")
	report := f.String("json", "", "`file` for everything that was seen")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *binary == "" {
		path, remove, err := built.Program(ctx)
		if err != nil {
			return err
		}
		defer remove()
		*binary = path
	}
	s, err := newSurvey(ctx, *binary, out, *apart)
	if err != nil {
		return err
	}
	defer s.stop()
	if *more != "" {
		err = s.extensions(ctx, *more)
	} else {
		err = s.apps(ctx, *folder, *cache, *only)
	}
	if err != nil {
		return err
	}
	if *report != "" {
		if err := writeJSON(*report, s.results); err != nil {
			return err
		}
	}
	return s.table()
}

func writeJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o600)
}

// chosen returns the names in a list with commas.
func chosen(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
