package reach

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// Target is what a command line says about the host that it means.
type Target struct {
	// URL is --host; "" means the host that started last.
	URL string
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
	cmd.Flags().StringVar(&t.URL, "host", "", "`URL` of the host (default: the running host that started last)")
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

// Resolve finds the host.
func (t Target) Resolve(env *term.Env) (Host, error) {
	token, err := t.Token(env)
	if err != nil {
		return Host{}, err
	}
	hosts, err := t.running(env)
	if err != nil {
		return Host{}, err
	}
	if len(hosts) > 0 {
		return hostOf(hosts[0], token), nil
	}
	if t.URL == "" {
		return Host{}, errNoHost()
	}
	if token == "" {
		return Host{}, term.Failf(mcp.CodeTokenRefused, "no token for %q, which is not a host that you run on this machine", t.URL)
	}
	address, err := mcpURL(t.URL)
	return Host{MCP: address, Token: token}, err
}

func errNoHost() error { return term.Failf(term.CodeNoHost, "no host is running") }

// ResolveLocal finds the endpoint file of the host, which must run on this machine.
func (t Target) ResolveLocal(env *term.Env) (Published, error) {
	hosts, err := t.running(env)
	if err != nil {
		return Published{}, err
	}
	if len(hosts) == 0 {
		if t.URL == "" {
			return Published{}, errNoHost()
		}
		return Published{}, term.Failf(term.CodeNoHost, "%q is not a host that you run on this machine", t.URL)
	}
	return hosts[0], nil
}

// running returns the running hosts that the target can mean, the first one first.
func (t Target) running(env *term.Env) ([]Published, error) {
	hosts, err := Running(userdir.Runtime(env.Getenv))
	if err != nil {
		return nil, fmt.Errorf("cannot look for running hosts: %w", err)
	}
	if t.URL == "" {
		return hosts, nil
	}
	address, err := mcpURL(t.URL)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(hosts, func(e Published) bool { return !sameOrigin(e.MCP, address) }), nil
}

// FindAHP returns the running host of this user whose WebSocket has the origin of address;
// ok is false if there is none.
func FindAHP(env *term.Env, address string) (_ Published, ok bool, err error) {
	hosts, err := Running(userdir.Runtime(env.Getenv))
	if err != nil {
		return Published{}, false, fmt.Errorf("cannot look for running hosts: %w", err)
	}
	i := slices.IndexFunc(hosts, func(e Published) bool { return sameOrigin(e.AHP, address) })
	if i < 0 {
		return Published{}, false, nil
	}
	return hosts[i], true, nil
}

func hostOf(e Published, token string) Host {
	if token == "" {
		token = e.AgentToken
	}
	return Host{MCP: e.MCP, Token: token, ViewToken: e.ViewToken, Link: e.Link, Content: e.Content}
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

// mcpURL returns the agent's endpoint for a URL of a host or of its page.
func mcpURL(host string) (string, error) {
	u, err := url.Parse(host)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", term.Usagef("--host %q: want the host's URL, as in http://localhost:8080", host)
	}
	prefix := strings.TrimSuffix(strings.TrimSuffix(u.EscapedPath(), "/"), "/mcp") // of a proxy
	return u.Scheme + "://" + u.Host + prefix + "/mcp", nil
}

// sameOrigin compares the scheme and authority of two URLs; localhost and 127.0.0.1 are
// the same.
func sameOrigin(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Scheme == ub.Scheme && ua.Port() == ub.Port() &&
		loopbackName(ua.Hostname()) == loopbackName(ub.Hostname())
}

func loopbackName(host string) string {
	if host == "127.0.0.1" {
		return "localhost"
	}
	return strings.ToLower(host)
}
