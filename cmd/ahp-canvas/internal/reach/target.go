package reach

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// Target is what a command line says about the host that it means.
type Target struct {
	// Host is --host: a URL, or the name, process id or port of a running host. "" means
	// the host that started last.
	Host string
	// TokenFile is --token-file.
	TokenFile string
	// Session is --session; "" means the host's default session.
	Session string
}

// Flags adds --host and --token-file.
func (t *Target) Flags(cmd *cobra.Command) {
	t.HostFlag(cmd)
	cmd.Flags().StringVar(&t.TokenFile, "token-file", "", "`file` with the agent token (default: $AHP_CANVAS_TOKEN, or the token of the running host)")
	term.Must(cmd.MarkFlagFilename("token-file"))
}

// HostFlag adds --host.
func (t *Target) HostFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.Host, "host", "", "`host` to use: its name, process id, port or URL (default: the running host that started last)")
}

// CompleteHost completes --host of all commands below cmd with the names of the running
// hosts.
func CompleteHost(env *term.Env, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		CompleteHost(env, sub)
	}
	if cmd.Flags().Lookup("host") == nil {
		return
	}
	term.Must(cmd.RegisterFlagCompletionFunc("host", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		hosts, _ := Running(userdir.Runtime(env.Getenv)) // a shell has no place for an error
		var names []cobra.Completion
		for _, h := range hosts {
			names = append(names, cobra.CompletionWithDesc(h.Label(), h.Page))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}))
}

// SessionFlag adds --session.
func (t *Target) SessionFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.Session, "session", "", "`URI` of the session (default: the host's default session)")
}

// Host is a host with the agent's endpoint and a token for it.
type Host struct {
	// MCP is the URL of the agent's endpoint, and Token a token for it.
	MCP, Token string
	// ViewToken, Link and Content come from the endpoint file; "" if the host has none on
	// this machine.
	ViewToken, Link, Content string
	// ActionsBridge is likewise; "" also if the host has no endpoint for browser pages.
	ActionsBridge string
}

// Address returns the URL of the host as people write it.
func (h Host) Address() string { return strings.TrimSuffix(h.MCP, "/mcp") }

// AHP returns the URL of the host's WebSocket.
func (h Host) AHP() string {
	u, err := url.Parse(h.MCP)
	if err != nil {
		return h.MCP // dialing it says what is wrong
	}
	u.Scheme = "ws" + strings.TrimPrefix(u.Scheme, "http")
	u.Path = strings.TrimSuffix(u.Path, "/mcp") + "/ahp"
	return u.String()
}

func hostOf(e Published, token string) Host {
	if token == "" {
		token = e.AgentToken
	}
	return Host{MCP: e.MCP, Token: token, ViewToken: e.ViewToken, Link: e.Link, Content: e.Content, ActionsBridge: e.ActionsBridge}
}

// Token returns the token that the user gave, or "".
func (t Target) Token(env *term.Env) (string, error) {
	if t.TokenFile == "" {
		return env.Getenv("AHP_CANVAS_TOKEN"), nil
	}
	return ReadToken("--token-file", t.TokenFile)
}

// ReadToken reads a file that holds one token; flag is the name of the flag for errors.
func ReadToken(flag, name string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", term.Usagef("%s: %q must hold one token and nothing else", flag, name)
	}
	return token, nil
}
