package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// attack is one way to harm a host.
type attack struct {
	name string
	// run attacks until ctx is canceled, and calls begun when the attack is complete. It
	// returns an error only if it could not attack, not if the host defended itself.
	run func(ctx context.Context, t *target, s scale, begun func()) error
	// visit comes to the host as others do, once the attack is complete. It may be nil.
	visit func(ctx context.Context, t *target) error
	// relay says that the attack is on a relay, which is started with a host.
	relay bool
	// app says that the attack is on a web app, which the host offers.
	app bool
}

// attacks are all attacks, in the order of a run.
var attacks []attack

func init() { // attackMain refers to it
	attacks = []attack{snapshots, content, schemas, titles, descriptions, fanOut, bookmarks, strangers, sessions, polls, views, relayed}
}

// scale says how long and how large an attack is.
type scale struct {
	rounds              int // attacked phases
	lasts, quiet, after time.Duration
	part                float64 // of the clients of the whole form
}

// of returns a part of n, at least 2.
func (s scale) of(n int) int { return max(2, int(float64(n)*s.part)) }

// result is what an attack did.
type result struct {
	name                  string
	before, during, after int64         // bytes of resident memory
	quiet, beside         phases        // quiet is before, between and after the attacks
	bare                  phases        // beside the attacks, at the bare server
	lasted, host          time.Duration // the attack, and the processor time of the host in it
	attackers             time.Duration // the processor time of the attackers
	harm                  []string
}

const header = "attack         RSS before   during    after     p99 alone  beside    bare    failed  CPU host  attackers  verdict"

func (r result) String() string {
	verdict := "ok"
	if len(r.harm) > 0 {
		verdict = fmt.Sprint(r.harm)
	}
	return fmt.Sprintf("%-14s %6d MiB %6d MiB %6d MiB  %8.1f ms %8.1f ms %8.1f ms %5d  %7.0f%% %9.0f%%  %s", r.name,
		r.before>>20, r.during>>20, r.after>>20, ms(r.quiet.p99()), ms(r.beside.p99()), ms(r.bare.p99()), r.beside.failed(),
		percent(r.host, r.lasted), percent(r.attackers, r.lasted), verdict)
}

func percent(part, of time.Duration) float64 { return 100 * part.Seconds() / max(of.Seconds(), 0.001) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measure runs an attack beside a client that behaves.
func measure(ctx context.Context, a attack, o options) (result, error) {
	r := result{name: a.name}
	s := o.scale()
	t, err := reach(ctx, o, a)
	if err != nil {
		return r, err
	}
	defer t.stop()
	b, err := behave(ctx, t)
	if err != nil {
		return r, err
	}
	defer b.stop()
	bare, stop, err := startBare(ctx)
	if err != nil {
		return r, err
	}
	defer stop()
	if r.before, err = t.rss(); err != nil {
		return r, err
	}
	if err := r.quiet.watch(ctx, b, s.quiet); err != nil {
		return r, err
	}
	for range s.rounds {
		if err = r.attack(ctx, a, t, s, b, bare); err != nil {
			return r, err
		}
		if r.after, err = t.lowest(ctx, s.after, r.before+t.budget/4); err != nil {
			return r, err
		}
		if err := r.quiet.watch(ctx, b, s.quiet); err != nil {
			return r, err
		}
	}
	if out := t.shutOut(); out != "" {
		r.harm = append(r.harm, out)
	}
	r.judge(t.budget)
	return r, nil
}

// attack runs the attack, and records the highest memory and what the client that
// behaves met meanwhile.
func (r *result) attack(ctx context.Context, a attack, t *target, s scale, b, bare *behaving) (err error) {
	attacking, end := context.WithTimeout(ctx, s.lasts)
	defer end()
	var wg sync.WaitGroup
	var failed error
	begun, before := time.Now(), t.processor()
	var used time.Duration
	var peak int64
	wg.Go(func() { used, failed = attackBeside(ctx, a, t, s) })
	wg.Go(func() { peak = t.highest(attacking) })
	var bareFailed error
	wg.Go(func() { bareFailed = r.bare.watch(ctx, bare, s.lasts) })
	err = r.beside.watch(ctx, b, s.lasts)
	r.lasted, r.host = r.lasted+time.Since(begun), r.host+t.processor()-before
	wg.Wait()
	r.attackers, r.during = r.attackers+used, max(r.during, peak)
	return errors.Join(err, failed, bareFailed)
}

// phases are what the client that behaves met in several phases of one kind.
type phases []latency

// watch adds a phase.
func (p *phases) watch(ctx context.Context, b *behaving, d time.Duration) error {
	l, err := b.watch(ctx, d)
	*p = append(*p, l)
	return err
}

// p99 is the median of the phases' p99, the lower one of two.
func (p phases) p99() time.Duration {
	var all []time.Duration
	for _, l := range p {
		all = append(all, l.p99())
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return all[(len(all)-1)/2]
}

// failed is how much the client was refused, in all phases.
func (p phases) failed() (n int) {
	for _, l := range p {
		n += l.Failed
	}
	return n
}

// why is one reason for that.
func (p phases) why() (text string) {
	for _, l := range p {
		text = cmp.Or(text, l.Why)
	}
	return text
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
	if r.beside.failed() > 0 {
		r.harm = append(r.harm, "client refused: "+r.beside.why())
	}
	if r.beside.p99() > max(2*r.quiet.p99(), 2*r.bare.p99(), tolerable) {
		r.harm = append(r.harm, slowed)
	}
}
