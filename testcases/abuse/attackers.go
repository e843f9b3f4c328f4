package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"time"
)

// attackEnv makes the program the process of the attackers: it has their orders.
const attackEnv = "AHP_ABUSE_ATTACK"

// orders are what the process of the attackers does.
type orders struct {
	Attack, URL, Token, Relay string
	Lasts                     time.Duration
	Part                      float64
}

// begun is what that process prints once the attack is complete.
const begun = "begun"

// attackers start a process that attacks, with the lowest priority that the system has:
// attackers are on other machines, so they must not take the host's processor from it.
func attackers(ctx context.Context, a attack, t *target, s scale) (*exec.Cmd, *bufio.Reader, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(orders{a.name, t.url, t.token, t.relay, s.lasts, s.part})
	if err != nil {
		return nil, nil, err
	}
	process := exec.CommandContext(ctx, self)
	if chrt, err := exec.LookPath("chrt"); err == nil { // of Linux; it runs when nothing else does
		process = exec.CommandContext(ctx, chrt, "--idle", "0", self)
	} else if nice, err := exec.LookPath("nice"); err == nil {
		process = exec.CommandContext(ctx, nice, "-n", "19", self)
	}
	process.Env = append(os.Environ(), attackEnv+"="+string(text))
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	return process, bufio.NewReader(out), process.Start()
}

// attackBeside attacks, and lets others visit the host once the attack is complete. It
// returns the processor time that the attackers used.
func attackBeside(ctx context.Context, a attack, t *target, s scale) (used time.Duration, err error) {
	process, out, err := attackers(ctx, a, t, s)
	if err != nil {
		return 0, err
	}
	// Without the line, the process has ended, and Wait says why.
	if line, _ := out.ReadString('\n'); line == begun+"\n" && a.visit != nil {
		attacked, cancel := context.WithTimeout(ctx, s.lasts)
		defer cancel()
		err = a.visit(attacked, t)
	}
	_, _ = out.ReadString('\n')
	if ended := process.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("the attackers: %w", ended))
	}
	return process.ProcessState.UserTime() + process.ProcessState.SystemTime(), err
}

// attackMain is the process of the attackers.
func attackMain() int {
	var o orders
	if err := json.Unmarshal([]byte(os.Getenv(attackEnv)), &o); err != nil {
		return 2
	}
	log.SetOutput(io.Discard) // net/http reports answers that arrive too late
	chosen, err := choose(o.Attack)
	if err != nil || len(chosen) != 1 {
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Lasts)
	defer cancel()
	t := &target{url: o.URL, token: o.Token, relay: o.Relay}
	if err := chosen[0].run(ctx, t, scale{part: o.Part}, func() { fmt.Println(begun) }); err != nil {
		fmt.Fprintln(os.Stderr, "abuse:", err)
		return 1
	}
	return 0
}
