package reach

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// Resolve finds the host. If the command line names none and several run, it says on the
// terminal which one it took.
func (t Target) Resolve(env *term.Env) (Host, error) {
	token, err := t.Token(env)
	if err != nil {
		return Host{}, err
	}
	e, found, err := t.find(env)
	switch {
	case err != nil:
		return Host{}, err
	case found:
		return hostOf(e, token), nil
	case !isURL(t.Host):
		return Host{}, t.errNoHost()
	case token == "":
		return Host{}, term.Failf(mcp.CodeTokenRefused, "no token for %q, which is not a host that you run on this machine", t.Host)
	}
	address, err := mcpURL(t.Host)
	return Host{MCP: address, Token: token}, err
}

// ResolveLocal finds the endpoint file of the host, which must run on this machine. Like
// Resolve, it says which of several it took.
func (t Target) ResolveLocal(env *term.Env) (Published, error) {
	e, found, err := t.find(env)
	if err == nil && !found {
		err = t.errNoHost()
	}
	return e, err
}

func (t Target) errNoHost() error {
	switch {
	case t.Host == "":
		return term.Failf(term.CodeNoHost, "no host is running")
	case isURL(t.Host):
		return term.Failf(term.CodeNoHost, "%q is not a host that you run on this machine", t.Host)
	}
	return term.Failf(term.CodeNoHost, "no running host has the name, process id or port %q; \"ahp-canvas hosts\" lists them", t.Host)
}

// find returns the running host that the target means; found is false if there is none.
func (t Target) find(env *term.Env) (_ Published, found bool, err error) {
	hosts, err := Running(userdir.Runtime(env.Getenv))
	if err != nil {
		return Published{}, false, fmt.Errorf("cannot look for running hosts: %w", err)
	}
	matching, err := t.matching(hosts)
	switch {
	case err != nil || len(matching) == 0:
		return Published{}, false, err
	case t.Host == "" && len(hosts) > 1:
		noteChoice(env, hosts)
	case len(matching) > 1:
		return Published{}, false, ambiguous(t.Host, matching)
	}
	return matching[0], true, nil
}

// matching returns the hosts that --host can mean. A name precedes a process id, and that
// a port, because a name is what the user gave.
func (t Target) matching(hosts []Published) ([]Published, error) {
	if t.Host == "" {
		return hosts, nil
	}
	if isURL(t.Host) {
		address, err := mcpURL(t.Host)
		if err != nil {
			return nil, err
		}
		return filter(hosts, func(e Published) bool { return sameOrigin(e.MCP, address) }), nil
	}
	number, _ := strconv.Atoi(t.Host)
	for _, means := range []func(Published) bool{
		func(e Published) bool { return e.Label() == t.Host },
		func(e Published) bool { return number > 0 && e.PID == number },
		func(e Published) bool { return number > 0 && e.Port() == number },
	} {
		if found := filter(hosts, means); len(found) > 0 {
			return found, nil
		}
	}
	return nil, nil
}

func filter(hosts []Published, keep func(Published) bool) []Published {
	return slices.DeleteFunc(slices.Clone(hosts), func(e Published) bool { return !keep(e) })
}

// ambiguous is the error for a name that several hosts have.
func ambiguous(name string, hosts []Published) error {
	var pids []string
	for _, h := range hosts {
		pids = append(pids, strconv.Itoa(h.PID))
	}
	return &canvas.Error{
		Code: term.CodeAmbiguousHost, Candidates: pids,
		Message: fmt.Sprintf("%d running hosts have the name %q, with the process ids %s", len(hosts), name, strings.Join(pids, ", ")),
	}
}

// noteChoice says which of several hosts a command took, if a person reads it.
func noteChoice(env *term.Env, hosts []Published) {
	if !term.IsTerminal(env.Err) {
		return
	}
	env.Note(fmt.Sprintf("%s; using %s, which started last. \"ahp-canvas hosts\" lists them, and --host chooses one.",
		term.Count(len(hosts), "host runs", "hosts run"), hosts[0].Describe()))
}

// Label returns the host's name, or its process id if it has none.
func (p Published) Label() string {
	if p.Name != "" {
		return p.Name
	}
	return strconv.Itoa(p.PID)
}

// Describe returns the host's name, process id and address for a person.
func (p Published) Describe() string {
	return fmt.Sprintf("%s (process %d, %s)", p.Label(), p.PID, Host{MCP: p.MCP}.Address())
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

// isURL reports whether --host is a URL, and not a name or a number.
func isURL(host string) bool { return strings.ContainsAny(host, "/:") }

// mcpURL returns the agent's endpoint for a URL of a host or of its page.
func mcpURL(host string) (string, error) {
	u, err := url.Parse(host)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", term.Usagef("--host %q: want a name, a process id, a port, or the host's URL, as in http://localhost:8080", host)
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
