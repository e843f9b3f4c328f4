package main

import (
	"io"
	"log/slog"
)

// newLogger writes text where a person looks, and JSON for whatever else
// collects standard error.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	_, line := w.(*statusLine) // stands only on a terminal
	if line || isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}
