package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	a := &app{in: os.Stdin, out: os.Stdout, errs: os.Stderr, getenv: os.Getenv}
	// The first signal ends the context; from then on a second one has its
	// usual effect and ends the process at once.
	context.AfterFunc(ctx, stop)
	code := a.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// app is the process as the commands see it.
type app struct {
	in        io.ReadCloser
	out, errs io.Writer
	getenv    func(string) string

	json bool   // --json
	to   target // --host, --token-file, --session
}

// run runs a command line and returns the exit status.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	return a.report(root.ExecuteContext(ctx))
}
