package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// attack is one way to harm a host.
type attack struct {
	name string
	// run attacks until ctx is canceled. It returns an error only if it could not
	// attack, not if the host defended itself.
	run func(ctx context.Context, t *target, s scale) error
}

// attacks are all attacks, in the order of a run.
var attacks = []attack{snapshots, content, schemas, titles, descriptions, fanOut, bookmarks, strangers, sessions, polls}

// scale says how long and how large an attack is.
type scale struct {
	lasts, quiet, after time.Duration
	part                float64 // of the clients of the whole form
}

// of returns a part of n, at least 2.
func (s scale) of(n int) int { return max(2, int(float64(n)*s.part)) }

// result is what an attack did.
type result struct {
	name                  string
	before, during, after int64 // bytes of resident memory
	quiet, beside         latency
	harm                  []string
}

const header = "attack         RSS before   during    after     p99 alone  beside    failed  verdict"

func (r result) String() string {
	verdict := "ok"
	if len(r.harm) > 0 {
		verdict = fmt.Sprint(r.harm)
	}
	return fmt.Sprintf("%-14s %6d MiB %6d MiB %6d MiB  %8.1f ms %8.1f ms %5d  %s", r.name,
		r.before>>20, r.during>>20, r.after>>20, ms(r.quiet.P99), ms(r.beside.P99), r.beside.Failed, verdict)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measure runs an attack beside a client that behaves.
func measure(ctx context.Context, a attack, o options) (result, error) {
	r := result{name: a.name}
	s := o.scale()
	t, err := reach(ctx, o)
	if err != nil {
		return r, err
	}
	defer t.stop()
	b, err := behave(ctx, t)
	if err != nil {
		return r, err
	}
	defer b.stop()
	if r.before, err = t.rss(); err != nil {
		return r, err
	}
	if r.quiet, err = b.watch(ctx, s.quiet); err != nil {
		return r, err
	}
	if r.during, r.beside, err = beside(ctx, a, t, b, s); err != nil {
		return r, err
	}
	if r.after, err = t.lowest(ctx, s.after, r.before+t.budget/4); err != nil {
		return r, err
	}
	if out := t.shutOut(); out != "" {
		r.harm = append(r.harm, out)
	}
	r.judge(t.budget)
	return r, nil
}

// beside runs the attack, and returns the highest memory and what the client that
// behaves met meanwhile.
func beside(ctx context.Context, a attack, t *target, b *behaving, s scale) (peak int64, met latency, err error) {
	attacking, end := context.WithTimeout(ctx, s.lasts)
	defer end()
	var wg sync.WaitGroup
	failed := make(chan error, 1)
	wg.Go(func() { failed <- a.run(attacking, t, s) })
	wg.Go(func() { peak = t.highest(attacking) })
	met, err = b.watch(ctx, s.lasts)
	wg.Wait()
	if why := <-failed; why != nil && err == nil {
		err = why
	}
	return peak, met, err
}

// slowed is the harm that also other programs on the machine can do.
const slowed = "client slowed"

// tolerable is a p99 that is too short to notice, whatever it is without the attack.
const tolerable = 20 * time.Millisecond

func (r *result) judge(budget int64) {
	if r.during > budget+budget/4 {
		r.harm = append(r.harm, "memory")
	}
	if r.after > r.before+budget/4 {
		r.harm = append(r.harm, "memory kept")
	}
	if r.beside.Failed > 0 {
		r.harm = append(r.harm, "client refused: "+r.beside.Why)
	}
	if r.beside.P99 > max(2*r.quiet.P99, tolerable) {
		r.harm = append(r.harm, slowed)
	}
}
