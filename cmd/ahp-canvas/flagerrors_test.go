package main

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// wrongValues are values that serve and relay refuse: for each flag, the flag's value with the
// flags that it needs. In a value, DIR is an empty folder, FILE a file with a wrong content
// and GONE a file that does not exist.
var wrongValues = map[string]map[string]string{
	"serve --state memory": {
		"listen": "localhost", "state": "FILE", "name": "a/b", "canvas": "GONE", "actions-page": "GONE", "origin": "canvas.example",
		"content-origin": "canvas.example", "allow-origin": "notes", "extension": "DIR", "canvas-url": "notes", "content": "fast",
		"max-connections": "0", "max-http": "0", "browser": "GONE", "workspace": "GONE", "cards": "yes", "mcp-apps": "yes",
		"aap": "GONE", "aap-agent": "builder", "aap-open": "yes", "aap-notify": "GONE --aap DIR", "aam-site": "FILE",
		"aam-vendor": "a/b --aam", "aam-key": "FILE --aam --state DIR", "aam-signer": "FILE --aam", "aam-wallet": "GONE --aam",
		"actions-bridge": "localhost", "actions-bridge-origin": "x --actions-bridge 127.0.0.1:0", "a2ui-agent": "shop",
		"a2ui-agent-token": "shop", "otlp": "localhost", "mcp-server": "time", "mcp-config": "GONE", "trusted-proxy": "proxy.example",
		"memory": "much", "log-level": "loud", "relay": "relay.example --relay-token-file KEY", "relay-token-file": "FILE --relay ws://localhost:1/",
		"relay-edges": "relay.example", "relay-role": "agent", "admin": "localhost", "admin-name": "a:1", "open": "nothing",
	},
	"relay --listen 127.0.0.1:0 --tokens TOKENS": {
		"listen": "localhost", "tokens": "GONE", "tls-cert": "GONE --tls-key GONE", "tls-key": "FILE --tls-cert FILE", "origin": "relay.example",
		"content-origin": "canvas.example", "nats": "not:a:url --advertise ws://localhost --edges ws://localhost", "nats-creds": "GONE --nats nats://localhost",
		"nats-ca": "GONE --nats nats://localhost", "nats-cert": "GONE --nats-key GONE --nats nats://localhost", "nats-key": "GONE --nats-cert FILE --nats nats://localhost",
		"nats-prefix": "a..b --nats nats://localhost", "advertise": "ws://elsewhere --nats nats://localhost --edges ws://localhost", "edges": "localhost --nats nats://localhost --advertise ws://localhost",
		"drain": "-1s", "token-key": "GONE", "revoked": "GONE", "admin": "localhost", "admin-name": "a:1", "otlp": "localhost", "max-http": "0",
		"trusted-proxy": "proxy.example", "log-level": "loud",
	},
}

// anyValue are flags that accept every value.
var anyValue = []string{"allow-scheme"}

// TestErrorsNameTheFlag checks that the refusal of each flag's value names the flag.
func TestErrorsNameTheFlag(t *testing.T) {
	for line, values := range wrongValues {
		name, _, _ := strings.Cut(line, " ")
		cmd, _, err := newRoot(testEnv(nil, nil)).Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		unknown := maps.Clone(values)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			delete(unknown, f.Name)
			if f.Value.Type() == "bool" || slices.Contains(anyValue, f.Name) {
				return
			}
			if values[f.Name] == "" {
				t.Errorf("no wrong value of %s --%s", name, f.Name)
				return
			}
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				t.Parallel()
				refused(t, line+" --"+f.Name+" "+values[f.Name], "--"+f.Name)
			})
		})
		if len(unknown) > 0 {
			t.Errorf("%s has no flags %v", name, unknown)
		}
	}
}

// refused runs a command line, which must fail at once and name a flag.
func refused(t *testing.T, line, flag string) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"FILE": "wrong", "TOKENS": `{"tokens":[]}`, "KEY": `{"host":"laptop","hostToken":"0123456789abcdef0123456789abcdef"}`,
	}
	names := []string{"GONE", filepath.Join(dir, "gone"), "DIR", filepath.Join(dir, "empty")}
	if err := os.Mkdir(names[3], 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, strings.ToLower(name))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name, path)
	}
	var out, errs bytes.Buffer
	env := testEnv(&out, &errs)
	env.Getenv = func(name string) string {
		return map[string]string{"XDG_RUNTIME_DIR": dir, "XDG_STATE_HOME": dir, "HOME": dir}[name]
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // ends a host that has started
	defer cancel()
	got := run(ctx, env, strings.Fields(strings.NewReplacer(names...).Replace(line)))
	if got == term.ExitDone || !strings.Contains(errs.String(), flag) {
		t.Errorf("%s: exit status %d, %s", line, got, &errs)
	}
}
