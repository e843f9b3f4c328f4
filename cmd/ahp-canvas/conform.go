package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// conformFlags are the flags of conform.
type conformFlags struct {
	mcp, agentToken, openCmd string
	slow, ours, strict, demo bool
	without, only, files     []string
	patience                 time.Duration
	junit                    string
	everything               bool
	url                      string
	viewSecret, agentSecret  string
}

func (a *app) conformCommand() *cobra.Command {
	var f conformFlags
	cmd := &cobra.Command{
		Use:   "conform WS-URL",
		Short: "Test an AHP host against the published transcripts",
		Long: `Play the transcripts of this project against an AHP host, over its WebSocket and
in real time, and say where the host does not do what they say.

Each case is about one rule, named with its place in the documents, and is
played in sessions of its own, which the host makes by createSession: its own
are left alone. It is best that nobody else uses the host meanwhile. A rule that
MUST hold and does not is a failure; one that SHOULD hold deviates, which is no
failure unless --strict. What needs something that the host does not have, or
that was not given here, is skipped, and the reasons are counted.

Cases in which an agent opens canvases need a way to do so:
  --mcp URL      the host's agent door, with the tools that ahp-canvas has
  --open-cmd CMD a command of yours: it gets the tool's name in AHP_TOOL and the
                 arguments as JSON on standard input, prints the tool's answer
                 as JSON, and exits with 0; or prints {"code","message"} and
                 exits with 1 where the tool fails

Tokens come from --token-file and --agent-token-file, and for a host of this
user that is running from its own files.

With --json each line is one object: a case, and at the end {"summary"}. The
exit status is 0 where no case failed, 1 where one did or the command was
interrupted, 2 for wrong usage.`,
		Example: `  ahp-canvas conform ws://localhost:8080/ahp --mcp http://localhost:8080/mcp
  ahp-canvas conform wss://host.example/ahp --token-file token --only reconnect/
  ahp-canvas conform ws://localhost:9000/ --junit report.xml --without canvas`,
		Args: takes("WS-URL"),
		RunE: does(func(ctx context.Context, args []string) error {
			f.url = args[0]
			return a.conform(ctx, &f)
		}),
	}
	a.jsonFlag(cmd)
	a.conformFlags(cmd, &f)
	reportFlags(cmd, &f.junit, &f.everything)
	return cmd
}

func (a *app) conformFlags(cmd *cobra.Command, f *conformFlags) {
	flags := cmd.Flags()
	flags.StringVar(&a.to.tokenFile, "token-file", "", "file that holds the token for the WebSocket (default: $AHP_CANVAS_TOKEN, or the running host's own)")
	flags.StringVar(&f.mcp, "mcp", "", "URL of the host's agent door")
	flags.StringVar(&f.agentToken, "agent-token-file", "", "file that holds the token for --mcp (default: the running host's own, or the token for the WebSocket)")
	flags.StringVar(&f.openCmd, "open-cmd", "", "command that calls a tool of the agent's door")
	flags.BoolVar(&f.slow, "slow", false, "play the cases that wait for longer than 5 seconds too: they take up to an hour")
	flags.BoolVar(&f.ours, "ours", false, "play the cases about choices of ahp-canvas too")
	flags.BoolVar(&f.strict, "strict", false, "count a rule that SHOULD hold and does not as failed")
	flags.BoolVar(&f.demo, "demo", false, "the host has the demo extensions that testcases/README.md describes")
	flags.StringSliceVar(&f.without, "without", nil, "what the host does not claim: canvas, provider, … (words of the cases' needs lines)")
	flags.StringSliceVar(&f.only, "only", nil, "play only cases whose name holds this")
	flags.StringSliceVar(&f.files, "case", nil, "play this transcript file instead of the published ones, as record writes it")
	flags.DurationVar(&f.patience, "patience", 5*time.Second, "how long an expected message is waited for")
	must(cmd.MarkFlagFilename("token-file"))
	must(cmd.MarkFlagFilename("agent-token-file"))
	must(cmd.MarkFlagFilename("case", "txt"))
}

func (a *app) conform(ctx context.Context, f *conformFlags) error {
	if err := a.checkConform(f); err != nil {
		return err
	}
	opts := conform.Options{
		URL: f.url, Token: f.viewSecret, Demo: f.demo, Ours: f.ours, Slow: f.slow, Strict: f.strict,
		Without: f.without, Only: f.only, Timeout: f.patience,
	}
	cases, err := readCases(f.files)
	if err != nil {
		return err
	}
	if cases != nil {
		opts.Cases, opts.Ours = cases, true
	}
	leave, err := a.conformAgent(ctx, f, &opts)
	if err != nil {
		return err
	}
	defer leave()
	out, err := a.newReport(f.junit, "conform", f.everything)
	if err != nil {
		return err
	}
	opts.Done = out.done
	report, err := conform.Run(ctx, opts)
	if err != nil {
		out.abandon()
		return unreachable(f.url, err)
	}
	err = out.finish(report)
	if ctx.Err() != nil {
		return failf(codeInterrupted, "the report says nothing of what was not played: run it again")
	}
	return err
}

// checkConform finds wrong usage, and the tokens.
func (a *app) checkConform(f *conformFlags) error {
	u, err := url.Parse(f.url)
	if err != nil || u.Host == "" || (u.Scheme != "ws" && u.Scheme != "wss") {
		return &usage{text: "give the WebSocket URL of the host, as in ws://localhost:8080/ahp"}
	}
	if f.mcp != "" && f.openCmd != "" {
		return &usage{text: "--mcp and --open-cmd are two ways to do the same: give one of them"}
	}
	known := []string{testcases.NeedsCanvas, testcases.NeedsAgent, testcases.NeedsProvider, testcases.NeedsDemo, testcases.NeedsTokens, testcases.NeedsClock, testcases.NeedsHost}
	for _, word := range f.without {
		if !slices.Contains(known, word) {
			return &usage{text: fmt.Sprintf("--without %s: the words are %s", printable(word), strings.Join(known, ", "))}
		}
	}
	if f.viewSecret, err = a.token(); err != nil {
		return err
	}
	if f.agentSecret, err = readToken("--agent-token-file", f.agentToken); err != nil {
		return err
	}
	hosts, err := running(runtimeFolder(a.getenv))
	if err != nil {
		return fmt.Errorf("cannot look for running hosts: %w", err)
	}
	for _, e := range hosts {
		if sameOrigin(e.AHP, f.url) {
			if f.viewSecret == "" {
				f.viewSecret = e.ViewToken
			}
			if f.agentSecret == "" {
				f.agentSecret = e.AgentToken
			}
		}
	}
	if f.agentSecret == "" {
		f.agentSecret = f.viewSecret
	}
	return nil
}

// maxCase bounds a transcript file, in bytes.
const maxCase = 128 << 20

// readCases reads the transcripts of a person's own.
func readCases(names []string) ([]*testcases.Transcript, error) {
	var all []*testcases.Transcript
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("--case: %w", err)
		}
		if info.Size() > maxCase {
			return nil, fmt.Errorf("--case: %s is larger than a transcript can be", printable(name))
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("--case: %w", err)
		}
		t, err := testcases.ParseTranscript(strings.TrimSuffix(filepath.Base(name), ".txt"), string(data))
		if err != nil {
			return nil, fmt.Errorf("--case: %w", err)
		}
		all = append(all, t)
	}
	return all, nil
}

func readToken(flag, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", &usage{text: flag + ": the file must hold one token and nothing else"}
	}
	return token, nil
}

// conformAgent finds the way to act as the agent; leave ends it.
func (a *app) conformAgent(ctx context.Context, f *conformFlags, opts *conform.Options) (leave func(), err error) {
	switch {
	case f.mcp != "":
		c, err := mcp.Dial(ctx, mcp.ClientOptions{URL: f.mcp, Token: f.agentSecret, Version: buildVersion()})
		if err != nil {
			return nil, about("--mcp (whose token --agent-token-file gives)", err)
		}
		opts.Agent = mcpAgent{c}
		return c.Close, nil
	case f.openCmd != "":
		opts.Agent = commandAgent{f.openCmd}
	}
	return func() {}, nil
}
