package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// The first signal cancels the context. By then a second one has its usual effect
	// again, and ends the process at once.
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	env := &term.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Version: thisBuild().Version}
	os.Exit(run(ctx, env, os.Args[1:]))
}
