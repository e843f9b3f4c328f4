package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// The first signal ends the context. Before anybody can see that, a second one
	// has its usual effect and ends the process at once.
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	a := &app{in: os.Stdin, out: os.Stdout, errs: os.Stderr, getenv: os.Getenv}
	code := a.run(ctx, os.Args[1:])
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
	cmd, err := root.ExecuteContextC(ctx)
	return a.report(lacking(cmd, err))
}
