// Package host assembles a host of canvases for a Go program: the page that people see,
// AHP for clients, and MCP for agents, as one http.Handler.
//
//	h, err := host.New(host.Options{Ready: func(link string) { fmt.Println(link) }})
//	if err != nil {
//		log.Fatal(err)
//	}
//	c := canvas.New("hello", "Says hello.", canvas.Files(files))
//	canvas.AddAction(c, "greet", "Greets someone.", func(ctx context.Context, v *canvas.Handle, in Greeting) (any, error) {
//		return nil, v.SetTitle(ctx, "Hello, "+in.Name)
//	})
//	if _, err := h.Add(c); err != nil {
//		log.Fatal(err)
//	}
//	log.Fatal(h.ListenAndServe(ctx, "127.0.0.1:0"))
//
// # Endpoints
//
//	/          the page                        no token; the page holds no secret
//	/ahp       WebSocket of AHP                a token of any role
//	/mcp       MCP over HTTP                   agent token
//	/healthz   200 while it can store          no token
//	/access/   tokens, invitations and audit   agent token; /access/redeem takes an invitation
//	/proof     proof that it knows its tokens  no token; discloses none (ahp/proof)
//
// [Host.Handle] adds patterns of the program. Content hosts, under which canvases run,
// serve the page's frame files and nothing else (canvas/PROTOCOL.md section 9).
//
// # Names and tokens
//
// A web page in a person's browser can send requests to a local server, also under a
// name that the page's owner resolves to this machine (DNS rebinding). The host therefore
// checks the Host header first, against the exact names that it has, then Origin, then
// the token. It has the names of Options.Origins and of the address that [Host.Serve] or
// [Host.SetAddr] is given. With none of these, as a plain handler, it answers connections
// on loopback only, as localhost or the loopback address, with the connection's port.
//
// The role of a token says what its holder may do (package access): people have RoleView,
// an editor needs RoleClient. [Host.AccessTokens] can be listed and revoked; an agent gets
// invitations ([Host.Invite]) and never the view token. [Host.Audit] says who did what.
//
// [Host.Link] holds the view token. Show it to the person and write it to no log; the
// host itself logs no token.
//
// # Connections
//
// The host closes an AHP connection beyond Options.MaxConnections with ws.CodeTryLater;
// pages and clients retry later. One address has at most an eighth of them. It closes one without a handshake after
// Options.Server.Handshake. Of other connections, Serve accepts Options.MaxHTTP; at that
// limit those without a token give way, first of the address that has the most of them
// (web.ConnLimiter). [Host.Load] has the counts.
//
// # A store that fails
//
// While the store refuses changes, because of a full disk or a failed sync, the host shows
// what it has, callers get canvas_store_failed, and /healthz answers 503 with the reason
// ([Host.Health]). A [channels.WatchedStore] recovers without a restart.
//
// # Lifetime
//
// [New] opens no listener. It restores what Options.Store holds and makes the default
// session. [Host.Close] drains: the host accepts nothing more, answers what it has
// accepted, closes every connection with code 1001, and commits what is still to be
// written. Serve does the same when its context is canceled.
//
// The package imports canvas, canvas/client, canvas/dialect, canvas/engine, canvas/gateway,
// canvas/host/internal/wiring, canvas/web, canvas/mcp, session, channels,
// channels/server, ahp/proof, ahp/access, ahp/token, ahp/ws, ahp and google/uuid. The program chooses the
// providers.
package host
