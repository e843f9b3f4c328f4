package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// maxMCPConfig is the limit of a file of --mcp-config, in bytes.
const maxMCPConfig = 1 << 20

// mcpOptions are the flags about MCP servers whose tools are canvases.
type mcpOptions struct {
	servers []string // --mcp-server: name=command or name=URL
	configs []string // --mcp-config: files
}

// flags adds the flags to a command.
func (o *mcpOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.servers, "mcp-server", nil, "MCP server whose tools with a page (MCP Apps) are canvases: `name=command` with arguments, or name=URL (https, or http on this machine), as in map='npx -y @modelcontextprotocol/server-map --stdio'; a command runs with all your permissions (repeatable)")
	f.StringArrayVar(&o.configs, "mcp-config", nil, "`file` with MCP servers, as agents have it: {\"mcpServers\": {\"name\": {\"command\", \"args\", \"env\"} or {\"url\", \"headers\"}}} (repeatable)")
	term.Must(cmd.MarkFlagFilename("mcp-config", "json"))
}

// any reports whether there are servers.
func (o *mcpOptions) any() bool { return len(o.servers)+len(o.configs) > 0 }

// check rejects values that no host can start with.
func (o *mcpOptions) check() error {
	_, _, err := o.read()
	return err
}

// read returns the servers, and notes about their files.
func (o *mcpOptions) read() (list []mcpapp.Server, notes []string, err error) {
	for _, arg := range o.servers {
		s, err := parseServer(arg)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, s)
	}
	for _, file := range o.configs {
		more, note, err := readMCPConfig(file)
		if err != nil {
			return nil, nil, term.Usagef("--mcp-config %s: %v", file, err)
		}
		if list = append(list, more...); note != "" {
			notes = append(notes, note)
		}
	}
	seen := map[string]bool{}
	for _, s := range list {
		if seen[s.Name] {
			return nil, nil, term.Usagef("there are two MCP servers %q; give each a name", s.Name)
		}
		seen[s.Name] = true
	}
	if len(list) > mcpapp.MaxServers {
		return nil, nil, term.Usagef("there are %d MCP servers, at most %d are allowed", len(list), mcpapp.MaxServers)
	}
	return list, notes, nil
}

// parseServer returns the server of a value of --mcp-server. Errors do not quote commands,
// which can hold secrets.
func parseServer(arg string) (s mcpapp.Server, err error) {
	name, rest, ok := strings.Cut(arg, "=")
	if !ok || !mcpapp.ValidName(name) {
		return s, term.Usagef("--mcp-server: want a name of lower-case letters, digits, dots, dashes and underscores, and a command or a URL, as in map='npx -y @modelcontextprotocol/server-map --stdio'")
	}
	s.Name = name
	if strings.HasPrefix(rest, "https://") || strings.HasPrefix(rest, "http://") {
		s.URL = rest
	} else if s.Command, err = splitWords(rest); err != nil {
		return s, term.Usagef("--mcp-server %s: %v", name, err)
	}
	if err := s.Check(); err != nil {
		return s, term.Usagef("--mcp-server: %v", err)
	}
	return s, nil
}

// splitWords splits a command like a shell's words, without a shell: quotes and backslashes
// work, variables and pipes are ordinary text.
func splitWords(s string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'' && runtime.GOOS != "windows":
			inWord, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			inWord, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote or a backslash has no end")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("want a command or a URL")
	}
	return words, nil
}

// mcpConfig is the format in which agents have their servers. Other members are ignored.
type mcpConfig struct {
	Servers map[string]struct {
		Command string            `json:"command,omitzero"`
		Args    []string          `json:"args,omitzero"`
		Env     map[string]string `json:"env,omitzero"`
		URL     string            `json:"url,omitzero"`
		Headers map[string]string `json:"headers,omitzero"`
	} `json:"mcpServers"`
}

// readMCPConfig reads a file. The note says that others can read its secrets.
func readMCPConfig(file string) (list []mcpapp.Server, note string, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, "", err
	}
	if info.Size() > maxMCPConfig {
		return nil, "", fmt.Errorf("it has %d bytes, at most %d are allowed", info.Size(), maxMCPConfig)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	var c mcpConfig
	if err := ahp.Unmarshal(raw, &c); err != nil {
		return nil, "", err
	}
	secret := false
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		v := c.Servers[name]
		s := mcpapp.Server{Name: name, URL: v.URL, Env: v.Env}
		if v.Command != "" {
			s.Command = append([]string{v.Command}, v.Args...)
		}
		for key, value := range v.Headers {
			if s.Header == nil {
				s.Header = http.Header{}
			}
			s.Header.Set(key, value)
		}
		if err := s.Check(); err != nil {
			return nil, "", err
		}
		secret = secret || len(v.Env)+len(v.Headers) > 0
		list = append(list, s)
	}
	if secret && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		note = fmt.Sprintf("others on this machine can read %s, which has environments or headers of MCP servers; chmod 600 keeps them out", file)
	}
	return list, note, nil
}

// startServers begins to connect to the MCP servers.
func (s *starting) startServers(a *apps, registry *host.Canvases) error {
	servers, notes, err := s.mcp.read()
	if err != nil {
		return err
	}
	a.notes = notes
	byName, err := s.allowed()
	if err != nil {
		return err
	}
	lists, err := allow.New(byName)
	if err != nil {
		return err
	}
	a.mcp, err = mcpapp.New(mcpapp.Options{
		Service: registry, LogDir: a.logs, Version: s.version, Logger: s.logger,
		Allowed: func(server, canvasID string) []string { return lists.For(server, canvasID).Origins },
	})
	if err != nil {
		return err
	}
	for _, server := range servers {
		g, err := a.mcp.Add(server)
		if err != nil {
			return term.About("--mcp-server "+server.Name, err)
		}
		a.servers = append(a.servers, g)
	}
	return nil
}

// waitServers is wait for the MCP servers.
func (a *apps) waitServers(ctx, patience context.Context) (notes []string) {
	for _, g := range a.servers {
		switch err := g.WaitStarted(patience); {
		case err == nil || ctx.Err() != nil:
		case patience.Err() != nil && errors.Is(err, patience.Err()):
			notes = append(notes, fmt.Sprintf("MCP server %q is still starting; its canvases appear when it has", g.Name()))
		default:
			notes = append(notes, message(err))
		}
	}
	return notes
}
