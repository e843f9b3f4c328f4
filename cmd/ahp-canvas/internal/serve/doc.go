// Package serve starts a host: the command serve, and the host that mcp starts in its own
// process.
//
// All flags of a host are in flags.go. What they become, in the order of a start:
// start.go puts the host together from its state folder, listener (listen.go), bundled
// canvases and folders (canvases.go), extensions and web apps (extensions.go); uplink.go
// makes it reachable through a relay.
//
// # What it promises
//
//   - A host that fails to start leaves nothing behind: no endpoint file, no process of an
//     extension, no lock.
//   - The endpoint file exists only while the host accepts connections.
//   - What cannot be opened or started of the user's extensions and web apps is a note;
//     the host still starts.
//
// It imports canvas/host and every provider, ahp/relay, and packages listener, reach,
// relaykey, statedir, userdir and term.
package serve
