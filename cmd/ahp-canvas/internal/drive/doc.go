// Package drive holds the commands that work with a running host: ls, describe, open, invoke,
// close, events, hosts, link, mcp and extension.
//
// # What it promises
//
//   - ls, describe, open, invoke, close and events do what an agent does: they call the tools of the
//     host's MCP endpoint, and nothing else.
//   - A command about a canvas that several running hosts have fails and names them, unless
//     the command line says which one it means.
//   - Text of a host or of a provider never drives the user's terminal.
//   - Shell completion never fails: without a host it offers nothing.
//
// It imports the agent's client (canvas/mcp), the types of canvases and sessions, and
// packages reach, userdir, statedir and term. It does not know how a host is started: mcp
// gets that as a LocalHost.
package drive
