package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// relayHost is the name of the host at the relay.
const relayHost = "laptop"

// relayed opens 1,500 connections without a token to a relay, from another address, while
// 25 people with one link come through it. The memory and the processor time are the
// relay's.
var relayed = attack{name: "relay", relay: true, visit: team, run: func(ctx context.Context, t *target, _ scale, begun func()) error {
	at, err := url.Parse(t.relay)
	if err != nil {
		return err
	}
	var opened atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		repeat(ctx, 1500, func(ctx context.Context, n int) error { return stay(ctx, at.Host, n%2 == 1, &opened) })
	})
	for opened.Load() < 1500 && ctx.Err() == nil {
		pause(ctx)
	}
	begun()
	wg.Wait()
	return nil
}}

// team are 25 people who come through the relay with one link, and stay.
func team(ctx context.Context, t *target) error {
	through := &target{url: t.relay + "ahp/" + relayHost, token: t.relayToken}
	for n := range 25 {
		c, err := through.join(ctx, fmt.Sprint("abuse-team-", n), false, "ahp-session:/default")
		t.met(ctx, "people", err)
		if err == nil {
			defer c.closeWith(ctx)()
		}
	}
	<-ctx.Done()
	return nil
}

// startRelay starts a relay, and returns the flags with which a host registers there.
func (t *target) startRelay(ctx context.Context, binary string) ([]string, error) {
	tokens, key := filepath.Join(t.dir, "tokens.json"), filepath.Join(t.dir, "key.json")
	minting := exec.CommandContext(ctx, binary, "relay", "token", "--tokens", tokens, "--host", relayHost, "--out", key)
	if out, err := minting.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("no token of the relay: %w: %s", err, out)
	}
	text, err := os.ReadFile(key)
	if err != nil {
		return nil, err
	}
	var made struct{ ClientToken string }
	if err := json.Unmarshal(text, &made); err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, binary, "relay", "--json", "--log-level", "warn", "--listen", "127.0.0.1:0", "--tokens", tokens)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	t.others = append(t.others, process)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return nil, errors.New("the relay did not start")
	}
	var at struct{ Relay string }
	if err := json.Unmarshal(line, &at); err != nil {
		return nil, err
	}
	t.relay, t.relayToken = at.Relay, made.ClientToken
	return []string{"--relay", t.relay, "--relay-token-file", key, "--relay-clear", "--relay-role", "view"}, nil
}
