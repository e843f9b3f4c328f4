package conform

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// tested is the host that is tested: its WebSocket, and the tokens for that and for the
// agent's endpoint. The cases create sessions, which a view token may not do.
type tested struct{ url, client, agent string }

// tested finds the host. Tokens of a running host of this user are filled in.
func (o options) tested(env *term.Env) (at tested, err error) {
	if at.client, err = o.to.Token(env); err != nil {
		return at, err
	}
	if o.agentToken != "" {
		if at.agent, err = reach.ReadToken("--agent-token-file", o.agentToken); err != nil {
			return at, err
		}
	}
	var local reach.Published
	if o.url == "" {
		local, err = o.to.ResolveLocal(env)
	} else {
		local, _, err = reach.FindAHP(env, o.url)
	}
	at.url = cmp.Or(o.url, local.AHP)
	at.agent = cmp.Or(at.agent, local.AgentToken, at.client)
	at.client = cmp.Or(at.client, local.AgentToken)
	return at, err
}

func isWebSocket(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "ws" || u.Scheme == "wss")
}

// noMCP is the value of --mcp for no endpoint.
const noMCP = "none"

// agent sets what plays the agent's part, or why nothing does. The caller calls leave when
// it has played.
func (o options) agent(ctx context.Context, env *term.Env, at tested, opts *conform.Options) (leave func(), err error) {
	leave = func() {}
	switch {
	case o.openCmd != "":
		opts.Agent = commandAgent{o.openCmd}
		return leave, nil
	case o.mcp == noMCP:
		return leave, nil
	}
	address := cmp.Or(o.mcp, besideWebSocket(at.url))
	agent, err := dialAgent(ctx, env, mcp.ClientOptions{URL: address, Token: at.agent, Version: env.Version})
	switch {
	case err == nil:
		opts.Agent = agent
		return agent.client.Close, nil
	case o.mcp != "":
		return nil, term.About("--mcp (whose token --agent-token-file gives)", err)
	}
	opts.NoAgent = fmt.Sprintf("the agent has to open a canvas, which no client can, and there is no MCP endpoint at %s for this token; use --agent-token-file, --mcp URL or --open-cmd CMD", address)
	return leave, nil
}

func dialAgent(ctx context.Context, env *term.Env, opts mcp.ClientOptions) (agent mcpAgent, err error) {
	defer env.Progress("Looking for the MCP endpoint")()
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if agent.client, err = mcp.Dial(ctx, opts); err != nil {
		return agent, err
	}
	if agent.tools, err = agent.client.Tools(ctx); err != nil {
		agent.client.Close()
	}
	return agent, err
}

// besideWebSocket returns where a host's MCP endpoint is if its WebSocket is at address:
// in the same place, with mcp instead of the path's last part.
func besideWebSocket(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // it was parsed before
	}
	u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	u.Path = u.Path[:strings.LastIndex(u.Path, "/")+1] + "mcp"
	if u.Path == "mcp" {
		u.Path = "/mcp"
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String()
}
