package conform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// options are the flags of conform, and its argument.
type options struct {
	to                       reach.Target // --host and --token-file
	url                      string       // "" means the running host
	mcp, agentToken, openCmd string
	slow, ours, strict, demo bool
	needs                    bool
	without, only, files     []string
	patience                 time.Duration
	report                   reportOptions
}

// Command returns conform.
func Command(env *term.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "conform [WS-URL]",
		Short: "Test an AHP host against the published transcripts",
		Long: `Play the transcripts of this project against an AHP host, over its WebSocket and
in real time, and report where the host does not follow them. Without WS-URL,
the host is the running one, or that of --host.

Each case tests one rule and names the section of the document that states it.
It runs in sessions that it creates with createSession, so the host's other
sessions are left alone. Other clients should not use the host meanwhile. A
broken MUST rule is a failure. A broken SHOULD rule is a deviation, which counts
as a failure only with --strict. Cases that need something that the host lacks,
or that the command line does not give, are skipped, and the reasons counted.

What a host must offer to be tested: initialize, createSession, subscribe and
disposeSession over a WebSocket. Clients of this command declare the canvases,
so the host needs none. But no client can open a canvas: for these cases the
command acts as the agent. It calls the tools open_canvas, close_canvas,
invoke_canvas_action and list_open_canvases through one of these:
  an MCP endpoint beside the WebSocket (/ahp and /mcp), if it accepts the token
  --mcp URL       another MCP endpoint; "none" uses none
  --open-cmd CMD  a command that calls a tool. It gets the tool's name in
                  AHP_TOOL and the arguments as JSON on standard input. It
                  prints the result as JSON and exits with 0; if the tool fails,
                  it prints {"code","message"} and exits with 1
--needs lists what each part of the cases needs, and contacts no host.

Tokens come from --token-file and --agent-token-file; the first one must be
allowed to create sessions. For a host that you run on this machine, they are
found automatically.

With --json each line is one object: a case, or at the end {"summary"}. The exit
status is 0 if no case failed, 1 if one did or the command was interrupted, and
2 for wrong usage.`,
		Example: `  ahp-canvas conform
  ahp-canvas conform --needs
  ahp-canvas conform wss://host.example/ahp --token-file token --only reconnect/
  ahp-canvas conform ws://localhost:9000/ --junit report.xml --without canvas`,
		Args: cobra.MaximumNArgs(1),
		RunE: term.Run(func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				o.url = args[0]
			}
			if o.needs {
				return printNeeds(env, o)
			}
			return run(ctx, env, o)
		}),
	}
	env.JSONFlag(cmd)
	o.to.HostFlag(cmd)
	o.flags(cmd)
	return cmd
}

func (o *options) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.to.TokenFile, "token-file", "", "`file` with the token for the WebSocket (default: $AHP_CANVAS_TOKEN, or the running host's own)")
	f.StringVar(&o.mcp, "mcp", "", "`URL` of the host's MCP endpoint, or \"none\" (default: the one beside the WebSocket, if it accepts the token)")
	f.StringVar(&o.agentToken, "agent-token-file", "", "`file` with the token for --mcp (default: the running host's own, or the token for the WebSocket)")
	f.StringVar(&o.openCmd, "open-cmd", "", "`command` that calls one of the tools of the MCP endpoint")
	f.BoolVar(&o.needs, "needs", false, "list what the cases need instead of playing them")
	f.BoolVar(&o.slow, "slow", false, "also play cases that wait longer than 5 seconds; they take up to an hour")
	f.BoolVar(&o.ours, "ours", false, "also play cases about choices that ahp-canvas makes and AHP does not require")
	f.BoolVar(&o.strict, "strict", false, "count a broken SHOULD rule as a failure")
	f.BoolVar(&o.demo, "demo", false, "the host has the demo extensions of testcases/README.md")
	f.StringSliceVar(&o.without, "without", nil, "`feature` that the host does not support: canvas, provider, … (a word of the cases' needs lines)")
	f.StringSliceVar(&o.only, "only", nil, "play only cases whose name contains this `text`")
	f.StringSliceVar(&o.files, "case", nil, "play this transcript `file`, which record wrote, instead of the published ones")
	f.DurationVar(&o.patience, "patience", 5*time.Second, "`time` to wait for an expected message")
	o.report.flags(cmd)
	term.Must(cmd.MarkFlagFilename("token-file"))
	term.Must(cmd.MarkFlagFilename("agent-token-file"))
	term.Must(cmd.MarkFlagFilename("case", "txt"))
}

func run(ctx context.Context, env *term.Env, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	at, err := o.tested(env)
	if err != nil {
		return err
	}
	opts := conform.Options{
		URL: at.url, Token: at.client, Demo: o.demo, Ours: o.ours, Slow: o.slow, Strict: o.strict,
		Without: o.without, Only: o.only, Timeout: o.patience,
	}
	cases, err := readCases(o.files)
	if err != nil {
		return err
	}
	if cases != nil {
		opts.Cases, opts.Ours = cases, true
	}
	leave, err := o.agent(ctx, env, at, &opts)
	if err != nil {
		return err
	}
	defer leave()
	return play(ctx, env, o, opts)
}

// play plays the cases and prints the report.
func play(ctx context.Context, env *term.Env, o options, opts conform.Options) error {
	out, err := newReport(env, o.report, "conform")
	if err != nil {
		return err
	}
	opts.Done = out.add
	report, err := conform.Run(ctx, opts)
	if err != nil {
		out.abandon()
		return runError(opts.URL, err)
	}
	err = out.finish(report)
	if ctx.Err() != nil {
		return term.Failf(codeInterrupted, "interrupted; the report covers only the cases that were played")
	}
	return err
}

// check rejects wrong usage.
func (o options) check() error {
	if o.url != "" && !isWebSocket(o.url) {
		return term.Usagef("%q: want the WebSocket URL of the host, as in ws://localhost:8080/ahp, or none for the running host", term.Printable(o.url))
	}
	if o.url != "" && o.to.Host != "" {
		return term.Usagef("WS-URL and --host are two ways to name the host; give one of them")
	}
	if o.mcp != "" && o.openCmd != "" {
		return term.Usagef("--mcp and --open-cmd are two ways to do the same; give one of them")
	}
	known := []string{testcases.NeedsCanvas, testcases.NeedsAgent, testcases.NeedsProvider, testcases.NeedsDemo, testcases.NeedsTokens, testcases.NeedsClock, testcases.NeedsHost, testcases.NeedsLater}
	for _, word := range o.without {
		if !slices.Contains(known, word) {
			return term.Usagef("--without %q: want one of %s", term.Printable(word), strings.Join(known, ", "))
		}
	}
	return nil
}

// maxCase is the largest transcript file, in bytes.
const maxCase = 128 << 20

// readCases reads the transcripts of --case.
func readCases(names []string) ([]*testcases.Transcript, error) {
	var all []*testcases.Transcript
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("--case: %w", err)
		}
		if info.Size() > maxCase {
			return nil, fmt.Errorf("--case: %s is larger than a transcript can be", term.Printable(name))
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
