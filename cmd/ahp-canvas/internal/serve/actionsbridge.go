package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// bridgeOptions are the flags about pages in people's browsers.
type bridgeOptions struct {
	address string   // --actions-bridge
	origins []string // --actions-bridge-origin
	scripts bool     // --actions-bridge-scripts
}

func (o *bridgeOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "actions-bridge", "", "`address` of this machine at which pages of the person's browser connect, as in 127.0.0.1:17345: the person lets them in, and agents work with them (default: none)")
	f.StringArrayVar(&o.origins, "actions-bridge-origin", nil, "`origin` of pages or of an extension that --actions-bridge lets in without asking, as in https://shop.example or chrome-extension://id (repeatable)")
	f.BoolVar(&o.scripts, "actions-bridge-scripts", false, "let agents run scripts of their own in every page that is let in")
}

// check rejects values that no host can start with.
func (o *bridgeOptions) check() error {
	if o.address == "" {
		if len(o.origins) > 0 || o.scripts {
			return term.Usagef("--actions-bridge-origin and --actions-bridge-scripts need --actions-bridge")
		}
		return nil
	}
	name, _, err := net.SplitHostPort(o.address)
	if err != nil {
		return term.Usagef("--actions-bridge %q: want an address and a port, as in 127.0.0.1:17345", o.address)
	}
	if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return term.Usagef("--actions-bridge %q: want an address of this machine alone, as in 127.0.0.1:17345, because its connections are not encrypted", o.address)
	}
	for _, origin := range o.origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || origin != u.Scheme+"://"+u.Host || u.Scheme != "http" && u.Scheme != "https" && !strings.HasSuffix(u.Scheme, "-extension") {
			return term.Usagef("--actions-bridge-origin %q: want a web origin, as in https://shop.example, or that of an extension, as in chrome-extension://id", origin)
		}
	}
	return nil
}

// bridgeEndpoint is where pages of browsers connect, with their canvases.
type bridgeEndpoint struct {
	bridge   *actionsbridge.Bridge
	provider *bridgecanvas.Provider
	server   *http.Server
	done     sync.WaitGroup
	address  string // of the WebSocket
	token    string
}

// maxBridgeConns is the connection limit of the listener; the bridge takes fewer sockets.
const maxBridgeConns = 64

// startBridge registers the canvases of browser pages, and listens for pages. Without an
// address it returns nil.
func startBridge(h *host.Host, o bridgeOptions, state *statedir.State, logger *slog.Logger) (_ *bridgeEndpoint, err error) {
	if o.address == "" {
		return nil, nil
	}
	if err := state.EnsureRuntimeToken(); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", o.address)
	if err != nil {
		return nil, listener.Error(term.CodeNotStarted, "--actions-bridge", o.address, err)
	}
	e := &bridgeEndpoint{token: state.RuntimeToken, address: "ws://" + ln.Addr().String() + "/extension"}
	e.bridge = actionsbridge.New(actionsbridge.Options{Origins: o.origins, Scripts: o.scripts, Logger: logger})
	e.provider = bridgecanvas.New(bridgecanvas.Options{Bridge: e.bridge, Address: e.address, Logger: logger})
	reg, err := h.Add(e.provider)
	if err != nil {
		_ = ln.Close()
		e.close()
		return nil, err
	}
	e.provider.Watch(reg)
	limiter := &web.ConnLimiter{Max: maxBridgeConns}
	e.server = &http.Server{
		Handler:           web.BodyTimeout(e.bridge.Handler(actionsbridge.DoorOptions{Hosts: bridgeHosts(ln.Addr()), Token: e.token})),
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	limiter.Watch(e.server)
	e.done.Go(func() {
		if err := e.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("pages of browsers cannot connect any more", "err", err)
		}
	})
	return e, nil
}

// bridgeHosts are the Host headers of a listener on loopback.
func bridgeHosts(addr net.Addr) []string {
	at := addr.(*net.TCPAddr)
	port := strconv.Itoa(at.Port)
	return []string{addr.String(), net.JoinHostPort("localhost", port), net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)}
}

// link is the address with its token; "" without an endpoint.
func (e *bridgeEndpoint) link() string {
	if e == nil {
		return ""
	}
	return e.address + "?tkn=" + url.QueryEscape(e.token)
}

// defaults are the canvases that are shown if the user names none.
func (e *bridgeEndpoint) defaults() []canvas.OpenArgs {
	if e == nil {
		return nil
	}
	return []canvas.OpenArgs{openArgs(bridgecanvas.ExtensionID, bridgecanvas.BrowserID)}
}

// close ends the listener, the connections and the canvases.
func (e *bridgeEndpoint) close() {
	if e == nil {
		return
	}
	if e.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if e.server.Shutdown(ctx) != nil {
			_ = e.server.Close() // a request did not end
		}
	}
	_ = e.provider.Close() // nil
	e.bridge.Close()
	e.done.Wait()
}
