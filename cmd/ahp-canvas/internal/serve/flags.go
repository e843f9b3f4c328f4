package serve

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/dialect"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/look"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// options are the flags of a host, which serve and mcp have.
type options struct {
	listen        string
	state         string
	name          string   // "" derives one
	canvases      []string // folders
	actionPages   []string // folders
	noPage        bool
	origins       []string
	contentOrigin string
	schemes       []string
	allow         []string // --allow-origin: name=origin
	extensions    []string // folders
	urls          []string // name=url
	content       string   // reach.ContentChannel, reach.ContentListener or reach.ContentDirect
	limits        listener.Limits
	memory        byteSize
	logLevel      slog.Level
	otlp          listener.OTLP
	aap           aapOptions
	aam           aamOptions
	bridge        bridgeOptions
	a2ui          a2uiOptions
	mcp           mcpOptions
	uplink        *uplink // nil if only the listener leads to the host, as with mcp
	browse        bool    // open the person's browser
	browser       string  // for pictures: look.Auto, look.None or a path
	workspace     string  // folder of the default session; "" is the current one
	cards         dialect.Cards
	mcpApps       mcp.AppList
}

// hostFlags adds the flags of any host.
func (o *options) hostFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0 means the port of the last run, or a free one")
	f.StringVar(&o.state, "state", "", "`folder` for sessions, open canvases, tokens and port, or \"memory\" to keep nothing (default: the user's state folder)")
	f.StringVar(&o.name, "name", "", "`name` by which --host of other commands chooses this host (default: that of its first canvas or state folder)")
	f.StringArrayVar(&o.canvases, "canvas", nil, "`folder` to offer as a canvas; it holds a canvas.json, or only an index.html (repeatable)")
	f.StringArrayVar(&o.actionPages, "actions-page", nil, "`folder` with an index.html and an actions.json, whose tools agents call in the page (repeatable)")
	f.BoolVar(&o.noPage, "no-page", false, "do not offer the canvas \"page\", with which agents show pages that they write")
	f.StringArrayVar(&o.origins, "origin", nil, "additional `URL` at which people open the page, as in https://canvas.example (repeatable; links use the first; with a path if a proxy has it under one; vscode-file://vscode-app lets VS Code connect from other machines)")
	f.StringVar(&o.contentOrigin, "content-origin", "", "`pattern` of the origins that canvases get, as in https://*.canvas.example (not needed on loopback)")
	f.StringArrayVar(&o.schemes, "allow-scheme", nil, "additional `scheme` that the URL of a canvas can have, as in file (repeatable)")
	f.StringArrayVar(&o.allow, "allow-origin", nil, "origin that a canvas can load from besides its own: `name=origin`, with the id of a canvas, a web app or an extension, as in notes=https://cdn.example, a2ui=https://*.images.example or notes=wss://live.example (repeatable; the canvas's card names them)")
	f.StringArrayVar(&o.extensions, "extension", nil, "`folder` of an extension to run: it holds an extension.mjs, or a package.json with a main module, or several such folders; it runs with all your permissions (repeatable)")
	f.StringArrayVar(&o.urls, "canvas-url", nil, "web app to offer as a canvas: `name=URL`, as in notes=http://127.0.0.1:3000; with \",cookies=shared\" at the end, all browsers share its login (repeatable)")
	f.StringVar(&o.content, "content", reach.ContentChannel, "`way` in which pages of extensions and web apps reach people: channel (through the host), listener (at addresses of the host, where the page reaches them) or direct (only on this machine)")
	f.IntVar(&o.limits.AHP, "max-connections", host.DefaultMaxConnections, "`limit` of AHP connections: pages and other clients, also through a relay; the default is lowered to fit the limit of open files")
	f.StringVar(&o.browser, "browser", look.Auto, "`program` that makes pictures of canvases for agents: auto (Chromium or Chrome, if it is installed), none, or a path")
	f.StringVar(&o.workspace, "workspace", "", "`folder` of the default session: an editor's window lists the sessions of its folders (default: the folder in which the host is started)")
	f.TextVar(&o.cards, "cards", dialect.CardsAuto, "`clients` that show canvases as cards in the chat: auto (VS Code), on or off; the others get links")
	f.TextVar(&o.mcpApps, "mcp-apps", mcp.AppsAuto, "`clients` of MCP that see the tools of pages in chats: auto (those that show MCP Apps), always, or never, which also keeps canvases out of chats")
	o.aap.flags(cmd)
	o.aam.flags(cmd)
	o.bridge.flags(cmd)
	o.a2ui.flags(cmd)
	o.otlp.Flag(cmd, "opens, invokes, closes, reads and the exchanges with web apps")
	o.mcp.flags(cmd)
	o.limits.HTTPFlag(cmd)
	o.limits.ProxyFlag(cmd)
	f.Var(&o.memory, "memory", "`size` of the memory that clients can make the host hold, as in 512MiB (default: a quarter of the machine's or the container's memory, at most 2GiB)")
	o.limits.Sockets, o.limits.Given, o.limits.Code = 1, f.Changed, term.CodeNotStarted
	f.TextVar(&o.logLevel, "log-level", slog.LevelWarn, "lowest `level` to log to standard error: debug, info, warn or error")
	for _, name := range []string{"state", "canvas", "actions-page", "extension", "workspace"} {
		term.Must(cmd.MarkFlagDirname(name))
	}
	term.Must(cmd.RegisterFlagCompletionFunc("cards", cobra.FixedCompletions([]cobra.Completion{"auto", "on", "off"}, cobra.ShellCompDirectiveNoFileComp)))
	term.Must(cmd.RegisterFlagCompletionFunc("mcp-apps", cobra.FixedCompletions([]cobra.Completion{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp)))
	term.Must(cmd.RegisterFlagCompletionFunc("content", cobra.FixedCompletions([]cobra.Completion{reach.ContentChannel, reach.ContentListener, reach.ContentDirect}, cobra.ShellCompDirectiveNoFileComp)))
}

// uplinkFlags adds the flags of a host that is reached beyond its own listener.
func (o *options) uplinkFlags(cmd *cobra.Command) {
	o.uplink = &uplink{}
	f := cmd.Flags()
	f.StringVar(&o.uplink.relay, "relay", "", "`URL` of the relay through which people reach this host, as in wss://relay.example/")
	f.StringVar(&o.uplink.tokenFile, "relay-token-file", "", "`file` with the output of \"ahp-canvas relay token\" for this host")
	o.uplink.admin.Flags(cmd, term.CodeNotStarted)
	f.StringArrayVar(&o.uplink.edges, "relay-edges", nil, "`pattern` of the edges that a relay can have this host dial, as in wss://*.relay.example (repeatable; default: those that the relay lists)")
	f.StringVar(&o.uplink.role, "relay-role", roleLink, "what clients may do without a token of this host: `role` link (nothing: links contain a token of the host, which the relay does not learn), none (nothing: each client needs an invitation or a token), read or view")
	f.BoolVar(&o.uplink.clear, "relay-clear", false, "also accept connections that the relay's operator can read, for clients that cannot seal theirs; the link then has no key")
	term.Must(cmd.MarkFlagFilename("relay-token-file"))
	cmd.MarkFlagsRequiredTogether("relay", "relay-token-file")
}

// check rejects values that no host can start with.
func (o *options) check() error {
	if !slices.Contains([]string{reach.ContentChannel, reach.ContentListener, reach.ContentDirect}, o.content) {
		return term.Usagef("--content %q: want channel, listener or direct", o.content)
	}
	if err := listener.CheckAddress("--listen", o.listen); err != nil {
		return err
	}
	if err := listener.CheckOrigins(o.pageOrigins(), o.contentOrigin); err != nil {
		return err
	}
	if _, err := o.allowed(); err != nil {
		return err
	}
	if o.memory != 0 && o.memory < leastMemory {
		return term.Usagef("--memory %s: want at least %s", o.memory, leastMemory)
	}
	if err := o.checkName(); err != nil {
		return err
	}
	if err := o.otlp.Check(); err != nil {
		return err
	}
	if err := o.aap.check(); err != nil {
		return err
	}
	if err := o.aam.client.check(); err != nil {
		return err
	}
	if err := o.bridge.check(); err != nil {
		return err
	}
	if err := o.a2ui.check(); err != nil {
		return err
	}
	if err := o.mcp.check(); err != nil {
		return err
	}
	return o.limits.Check()
}

// allowed returns the origins that canvases may load from, by name.
func (o *options) allowed() (map[string][]string, error) {
	byName := map[string][]string{}
	for _, arg := range o.allow {
		name, origin, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, term.Usagef("--allow-origin %q: want the id of a canvas or an extension and an origin, as in notes=https://cdn.example", arg)
		}
		byName[name] = append(byName[name], origin)
	}
	if _, err := allow.New(byName); err != nil {
		return nil, term.Usagef("--allow-origin: %v", err)
	}
	return byName, nil
}

// pageOrigins are the values of --origin at which a browser has the page, without the paths
// that only links need.
func (o *options) pageOrigins() (all []string) {
	for _, origin := range o.origins {
		if u, err := url.Parse(origin); err == nil && u.Host != "" && u.User == nil && !strings.ContainsAny(origin, "?#") {
			origin = strings.TrimSuffix(origin, u.EscapedPath())
		}
		if origin != host.EditorOrigin {
			all = append(all, origin)
		}
	}
	return all
}

// leastMemory is the smallest value of --memory.
const leastMemory byteSize = budget.Least

// behindTLS reports whether people reach the host at an address that a proxy encrypts.
func (o *options) behindTLS() bool {
	return slices.ContainsFunc(o.origins, func(origin string) bool { return strings.HasPrefix(origin, "https://") })
}

// publishedContent is the endpoint file's word for --content; "" if the host runs neither
// extensions nor web apps.
func (o *options) publishedContent() string {
	if len(o.extensions)+len(o.urls) == 0 {
		return ""
	}
	return o.content
}

// workspaceURI returns the URI of a folder; "" is that of the process.
func workspaceURI(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("--workspace: %w", err)
	}
	if info, err := os.Stat(path); dir != "" && (err != nil || !info.IsDir()) {
		return "", term.Usagef("--workspace %q: no such folder", dir)
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/Users
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), nil
}
