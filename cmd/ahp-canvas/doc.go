// Command ahp-canvas runs a canvas host and works with one (canvas/PROTOCOL.md
// section 9).
//
// A host:
//
//	ahp-canvas serve      start a host and print its link
//	ahp-canvas mcp        serve MCP on standard input and output, for an agent
//	ahp-canvas relay      connect clients to hosts that have no reachable address
//	ahp-canvas doctor     check host, tokens, browser and folders
//	ahp-canvas state      check, print, back up and restore what a host keeps
//	ahp-canvas docs       read the documentation, or export it
//
// Working with a running host:
//
//	ahp-canvas ls         list canvases that can be opened, and open ones
//	ahp-canvas describe   show what a canvas is for, its input and its actions
//	ahp-canvas open       open a canvas, or update an open one
//	ahp-canvas invoke     run an action of an open canvas
//	ahp-canvas close      close an open canvas
//	ahp-canvas events     print what people did in canvases
//	ahp-canvas hosts      list the running hosts
//	ahp-canvas link       print the link of a running host
//	ahp-canvas view       show a host's canvases at local URLs, or a file as a canvas
//	ahp-canvas extension  inspect the extensions of a running host
//
// Writing canvases, and testing hosts:
//
//	ahp-canvas new        create a folder with a small canvas to start from
//	ahp-canvas lint       report what is wrong with a canvas folder
//	ahp-canvas conform    test an AHP host against the published transcripts
//	ahp-canvas check      run a folder of reducer and round-trip fixtures
//	ahp-canvas record     record the messages between clients and a host
//
// # Where the code is
//
// main.go and root.go put the command line together. Each family of commands is a package
// below internal, named for its verb: serve, drive, relay, view, conform, doctor, state, docs
// and authoring. They do not import each other. What they share is in term (output, errors,
// exit statuses), reach (finding a host), userdir and statedir (folders), listener
// (connection limits, metrics) and relaykey. The flags of serve are in
// internal/serve/flags.go. Package programtest runs the program as a process.
//
// # Which host a command means
//
// A running host publishes an endpoint file PID.json, which holds its tokens, in the user's
// runtime folder: $XDG_RUNTIME_DIR/ahp-canvas, or else ahp-canvas-UID in the folder for
// temporary files. The folder must belong to the user and be closed to others. The file is
// removed with its host; if the host was killed, the next command that looks removes it.
// Without --host, a command means the host that started last; if several run, it says on a
// terminal which one it took. --host chooses one by its name (--name of serve, or else that of
// its first canvas or its state folder), process id, port or URL. For a host of another user or
// machine, --token-file or AHP_CANVAS_TOKEN gives the token. No command uses the proxy that
// the environment names, because tokens are only for the host. A client that stays connected
// sends its token only to that same host when it reconnects (package ahp/proof).
//
// # Addresses and limits
//
// Package canvas/host describes what a host serves at its listener, and package ahp/relay
// what a relay serves. --admin adds a second listener to both, with /healthz, /metrics and
// 64 connections. It accepts IP addresses, localhost, the names of --admin-name and, beyond
// loopback, the machine's name. --max-connections (serve) and --max-http (both) limit the
// connections of the first listener. They fit the limit of open files: a default is lowered
// to fit, which the log says; a given number is met or refused.
//
// # State
//
// The state folder is $XDG_STATE_HOME/ahp-canvas, or the system's own place for state. Its
// file host.json holds the two tokens and the last port, so that open pages survive a restart
// of the host, and the number of the last run, by which a relay tells the newest run. store.db,
// with store.db-wal, -shm and -lock, holds sessions, open canvases and what they saved (package
// channels/sqlitestore). "state restore" puts a backup there. One host uses a folder at a time: it locks the file "lock", which holds its process
// id. --state memory keeps nothing.
//
// # Output
//
// Headings and statuses have colors on a terminal, unless NO_COLOR is set or TERM is dumb.
// Standard output holds the result: text for people, or one JSON object per line with --json.
// Everything else goes to standard error. If that is a terminal, it also shows progress of
// operations that take longer than half a second, and a status line below a running host.
// Tokens and links are printed only on standard output, for the person or script that asked
// for them, and never logged.
//
// The exit status is 0 for success, 1 if the operation failed, with a message that has its
// code, its cause and what to do next, and 2 for wrong usage. Failures of this program alone,
// such as a missing file, have no code. With --json each failure is one object on standard
// error, and the code of those is "failed".
package main
