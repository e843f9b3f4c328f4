package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// A flag that is lacking, or has a value that it does not take, is named as it is
// written, in words of its own, with the command's usage.
func TestWrongFlags(t *testing.T) {
	for line, want := range map[string]string{
		"relay":                           "relay needs --tokens\n  usage: ahp-canvas relay ",
		"relay token":                     "token needs --host and --tokens\n  usage: ahp-canvas relay token ",
		"relay token --host a":            "token needs --tokens\n",
		"serve --relay ws://localhost/":   "serve needs --relay-token-file with --relay\n  usage: ahp-canvas serve ",
		"serve --relay-token-file x.json": "serve needs --relay with --relay-token-file\n",
		"serve --log-level loud":          "--log-level loud: want debug, info, warn or error\n  usage: ahp-canvas serve ",
		"serve --max-http x":              "--max-http x: want a whole number\n",
		"events --timeout 5":              "--timeout 5: want a time, as in 30s or 5m\n  usage: ahp-canvas events ",
		"events --after 1.5":              "--after 1.5: want a whole number\n",
		"events --follow=x":               "--follow x: want true or false\n",
		"ls --nope":                       "unknown flag: --nope\n  usage: ahp-canvas ls ",
	} {
		var out, errs bytes.Buffer
		a := &app{out: &out, errs: &errs, getenv: func(string) string { return "" }}
		if code := a.run(t.Context(), strings.Fields(line)); code != exitUsage || !strings.HasPrefix(errs.String(), "ahp-canvas: "+want) || out.Len() != 0 {
			t.Errorf("%s: exit status %d, %q", line, code, &errs)
		}
	}
}

// A host that answers, but not what every case begins with, is not told to listen.
func TestNotTestable(t *testing.T) {
	err := unreachable("ws://host", fmt.Errorf("createSession: %w", &ahp.Error{Code: ahp.CodeMethodNotFound, Message: "no"}))
	if text := err.Error(); !strings.Contains(text, "createSession, subscribe") || strings.Contains(text, "listens") {
		t.Error(text)
	}
}

// A relay's link that a shell cut at its & still has the token, and names no host.
func TestCutLink(t *testing.T) {
	for path, want := range map[string]string{"/ahp": "put it into quotes", "/ahp/laptop": `for the host "laptop"`} {
		if err := (link{ahp: "wss://relay.example" + path}).explain(&ws.HandshakeError{Status: 403}); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
