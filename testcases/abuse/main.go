// Abuse attacks a host as a client with a token can, and measures what the host and
// a client that behaves suffer: memory before, during and after each attack, and the
// latency of the client's dispatches.
//
//	go run ./testcases/abuse                                   starts a host for each attack
//	go run ./testcases/abuse --url ws://127.0.0.1:7000/ahp --token TOKEN --pid 4711
//
// An attack is one file. Attacks send only what the protocol allows, so a host may
// refuse, delay or disconnect them, but it must serve the client that behaves
// throughout.
//
// Attackers are on other machines. Here they are a process that runs with the lowest
// priority, so that the host has the processor whenever it has work. The client that
// behaves is another process with the usual priority, and so are those who come during
// an attack. The attack "relay" starts a relay in front of the host; memory and processor
// time are the relay's then. The attack "views" starts a web app that does not answer. Both
// are left out with --url.
//
// The verdict of an attack is "ok" if
//
//   - the host's memory stayed below the budget and a quarter (--memory), and was
//     back within ten seconds after the attack: at most a quarter of the budget above
//     what it was before;
//   - the client that behaves was neither disconnected nor refused anything;
//   - others who came during the attack got in;
//   - its p99 beside the attack was at most twice its p99 without it, or twice that of the
//     column "bare", or at most 20 ms.
//
// Attacked and quiet phases take turns. The p99 is the median of those of the phases, so
// that one moment in which the machine had other work is not the host's.
//
// The column "bare" is the p99, beside the attack, of the same client at a server that only
// returns what it receives: what the machine costs any server at that time.
//
// On two cores of AMD EPYC, with nothing else running and a budget of 512 MiB, the p99
// alone was 1 to 4 ms. Beside fan-out it was 3 ms (bare 2), beside ten other attacks 1 to
// 6 ms (bare 1 to 4), and memory stayed below 520 MiB. Beside polls it was 3 to 4 ms (bare 2)
// with --rounds 1, and 9 to 18 ms with 3 rounds, because a hundredth of so short a round is
// the moment in which 1,200 agents come at once.
//
// Attack only hosts that you run for this purpose.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/built"
)

// errVerdict is returned if an attack did harm.
var errVerdict = errors.New("the host did not withstand every attack")

func main() {
	if code, ok := child(); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "abuse:", err)
		os.Exit(1)
	}
}

// child runs what a process of this program was started for: the client that behaves, the
// bare server, or the attackers. ok is false for the process that measures.
func child() (code int, ok bool) {
	switch {
	case os.Getenv(bareEnv) != "":
		return bareMain(), true
	case os.Getenv(behaveEnv) != "":
		return behaveMain(), true
	case os.Getenv(attackEnv) != "":
		return attackMain(), true
	}
	return 0, false
}

// options are the flags of the program.
type options struct {
	url, token string
	pid        int
	binary     string
	memory     int64 // MiB
	only       string
	short      bool
	rounds     int
	noFlag     bool
}

func (o options) scale() scale {
	if o.short {
		return scale{rounds: 1, lasts: time.Second, quiet: 500 * time.Millisecond, after: 10 * time.Second, part: 0.1}
	}
	return scale{rounds: o.rounds, lasts: 20 * time.Second / time.Duration(o.rounds), quiet: 4 * time.Second, after: 10 * time.Second, part: 1}
}

// command runs the attacks that the arguments name.
func command(ctx context.Context, args []string) error {
	var o options
	f := flag.NewFlagSet("abuse", flag.ContinueOnError)
	f.StringVar(&o.url, "url", "", "`address` of the host, as in ws://127.0.0.1:7000/ahp; without it, each attack has a new host")
	f.StringVar(&o.token, "token", "", "`token` of the host at --url, which may create sessions")
	f.IntVar(&o.pid, "pid", 0, "process `id` of the host at --url, to measure its memory")
	f.StringVar(&o.binary, "binary", "", "ahp-canvas `program` to start; without it, the program is built from this module")
	f.Int64Var(&o.memory, "memory", 512, "budget of the host in `MiB`")
	f.BoolVar(&o.noFlag, "no-memory-flag", false, "start the host without --memory, for a program that does not have the flag")
	f.StringVar(&o.only, "attack", "", "`names` of attacks, separated by commas (default: all)")
	f.IntVar(&o.rounds, "rounds", 3, "`number` of attacked phases of an attack, which last 20 s together")
	f.BoolVar(&o.short, "short", false, "the form of the tests: one second and a tenth of the clients for each attack")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.rounds < 1 {
		return errors.New("--rounds: want at least 1")
	}
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	if o.url == "" && o.binary == "" {
		path, remove, err := built.Program(ctx)
		if err != nil {
			return err
		}
		defer remove()
		o.binary = path
	}
	harmed := false
	fmt.Println(header)
	for _, a := range chosen {
		if (a.relay || a.app) && o.url != "" {
			continue // the relay and the apps of that host are not known
		}
		r, err := measure(ctx, a, o)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Println(r)
		harmed = harmed || len(r.harm) > 0
	}
	if harmed {
		return errVerdict
	}
	return nil
}

// choose returns the attacks with the given names, or all.
func choose(names string) ([]attack, error) {
	if names == "" {
		return attacks, nil
	}
	var chosen []attack
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(attacks, func(a attack) bool { return a.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no attack is named %q", name)
		}
		chosen = append(chosen, attacks[i])
	}
	return chosen, nil
}
