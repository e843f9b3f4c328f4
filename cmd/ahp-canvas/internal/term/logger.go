package term

import "log/slog"

// Logger returns a logger on standard error: text on a terminal, and JSON for programs
// that collect it.
func (e *Env) Logger(level slog.Level) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	_, line := e.Err.(*StatusLine) // exists only on a terminal
	if line || IsTerminal(e.Err) {
		return slog.New(slog.NewTextHandler(e.Err, opts))
	}
	return slog.New(slog.NewJSONHandler(e.Err, opts))
}
