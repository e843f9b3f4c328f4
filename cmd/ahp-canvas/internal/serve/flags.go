package serve

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// options are the flags of a host: those of serve and of mcp.
type options struct {
	listen        string
	state         string
	canvases      []string // folders
	origins       []string
	contentOrigin string
	schemes       []string
	extensions    []string // folders
	urls          []string // name=url
	content       string   // reach.ContentChannel or reach.ContentDirect
	limits        listener.Limits
	logLevel      slog.Level
	uplink        *uplink // nil if only the listener leads to the host, as with mcp
}

// hostFlags adds the flags of any host.
func (o *options) hostFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 is the last one, or a free one")
	f.StringVar(&o.state, "state", "", "folder that keeps sessions, open canvases, tokens and port, or \"memory\" to keep nothing (default: the user's state folder)")
	f.StringArrayVar(&o.canvases, "canvas", nil, "folder to offer as a canvas: with a canvas.json, or just an index.html (repeatable)")
	f.StringArrayVar(&o.origins, "origin", nil, "further address under which people reach the page, as in https://canvas.example (repeatable; links name the first)")
	f.StringVar(&o.contentOrigin, "content-origin", "", "pattern of the origins that canvases get, as in https://*.canvas.example (loopback needs none)")
	f.StringArrayVar(&o.schemes, "allow-scheme", nil, "url scheme that canvases may point to beside the usual ones, as in file (repeatable)")
	f.StringArrayVar(&o.extensions, "extension", nil, "extension to run: a folder with extension.mjs or a package.json with a main module, or a folder of such; it runs as you, with all that you may do (repeatable)")
	f.StringArrayVar(&o.urls, "canvas-url", nil, "web app of this machine to offer as a canvas, as in notes=http://127.0.0.1:3000 (repeatable)")
	f.StringVar(&o.content, "content", reach.ContentChannel, "how pages of extensions and web apps reach people: channel, or direct from this machine")
	f.IntVar(&o.limits.AHP, "max-connections", host.DefaultMaxConnections, "AHP connections at a time: pages and clients, a relay's included; the default gives way to the limit of open files")
	o.limits.HTTPFlag(cmd)
	o.limits.Sockets, o.limits.Given, o.limits.Code = 1, f.Changed, term.CodeNotStarted
	f.TextVar(&o.logLevel, "log-level", slog.LevelWarn, "the least `level` that is logged to standard error: debug, info, warn or error")
	for _, name := range []string{"state", "canvas", "extension"} {
		term.Must(cmd.MarkFlagDirname(name))
	}
	term.Must(cmd.RegisterFlagCompletionFunc("content", cobra.FixedCompletions([]cobra.Completion{reach.ContentChannel, reach.ContentDirect}, cobra.ShellCompDirectiveNoFileComp)))
}

// uplinkFlags adds the flags of a host that is reached beyond its own listener.
func (o *options) uplinkFlags(cmd *cobra.Command) {
	o.uplink = &uplink{}
	f := cmd.Flags()
	f.StringVar(&o.uplink.relay, "relay", "", "relay through which people reach this host from anywhere, as in wss://relay.example/")
	f.StringVar(&o.uplink.tokenFile, "relay-token-file", "", "file that holds what \"ahp-canvas relay token\" printed for this host")
	o.uplink.admin.Flags(cmd)
	term.Must(cmd.MarkFlagFilename("relay-token-file"))
	cmd.MarkFlagsRequiredTogether("relay", "relay-token-file")
}

// check rejects values that no host can start with.
func (o *options) check() error {
	if o.content != reach.ContentChannel && o.content != reach.ContentDirect {
		return term.Usagef("--content %s: it is channel or direct", o.content)
	}
	return o.limits.Check()
}

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
