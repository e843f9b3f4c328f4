package process

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// NewBackoff returns the pauses of [Restart]: 0.25 s at first, then each twice as long, up
// to 10 s, ±20 %. It never gives up: a person can install a missing program at any time.
func NewBackoff() backoff.BackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 250 * time.Millisecond, Multiplier: 2, MaxInterval: 10 * time.Second, RandomizationFactor: 0.2,
	}
}

// Restart calls run repeatedly, with pauses of b in between, until run returns false, b
// stops or ctx ends. A call that took longer than steady resets b.
func Restart(ctx context.Context, b backoff.BackOff, steady time.Duration, run func() bool) {
	b.Reset()
	for {
		begun := time.Now()
		if !run() {
			return
		}
		if time.Since(begun) > steady {
			b.Reset()
		}
		wait := b.NextBackOff()
		if wait == backoff.Stop {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// Environment returns env without the variables AHP_CANVAS_, because they can contain the
// host's tokens.
func Environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "AHP_CANVAS_") })
}
