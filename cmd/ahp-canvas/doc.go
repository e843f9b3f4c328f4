// Command ahp-canvas runs a canvas host and drives one (canvas.md section 9).
//
//	ahp-canvas serve      start a host; prints the link that a person opens
//	ahp-canvas ls         what can be opened, and what is open
//	ahp-canvas open       open a canvas, or update one that is open
//	ahp-canvas invoke     run an action of an open canvas
//	ahp-canvas close      close an open canvas
//	ahp-canvas events     what people did in canvases
//	ahp-canvas new        make a folder that is a small canvas to start from
//	ahp-canvas lint       what is wrong with a folder as a canvas
//	ahp-canvas extension logs  what extensions have said
//	ahp-canvas relay      join clients with hosts that nobody can dial
//	ahp-canvas doctor     what a canvas needs on its way to a person, checked
//	ahp-canvas completion the words of a shell: bash, zsh, fish, powershell
//	ahp-canvas link       print the link again
//	ahp-canvas mcp        the agent's door on standard streams
//	ahp-canvas view       open canvases at urls of this machine, or a file as one
//	ahp-canvas state      check, show and copy what a host keeps
//	ahp-canvas conform    test an AHP host against the published transcripts
//	ahp-canvas check      run a folder of reducer and round-trip fixtures
//	ahp-canvas record     write down what clients and a host say to each other
//	ahp-canvas version    print the version
//
// ls, open, invoke, close and events are an agent's calls: they speak MCP to a running
// host and to nothing else.
//
// # Which host
//
// A running host leaves an endpoint file PID.json, which holds its tokens, in the
// user's runtime folder: $XDG_RUNTIME_DIR/ahp-canvas, or else ahp-canvas-UID in
// the folder for temporary files, which must then belong to the user and to
// nobody else. The file goes with the host; one whose process is gone is removed
// by whoever meets it. Of several running hosts the one that started last is
// driven; --host URL picks another. For a host of another user or machine, the
// token comes from --token-file or AHP_CANVAS_TOKEN. No command goes through a
// proxy that the environment names: the token is for the host alone. Who stays
// connected sends it to that host alone, too, when it has to connect again (package
// ahp/proof).
//
// # Addresses and bounds
//
// What stands behind the listener of serve is in package host, with /proof; a relay's
// three doors are in package relay. --admin gives both a second listener, with
// /healthz and /metrics and 64 connections; it answers to numbers, to localhost and,
// beyond loopback, to the machine's name, and to each --admin-name. --max-connections
// (serve) and --max-http (both) bound the first one. They fit the limit of open files
// (crowd.go): a default gives way, which the log says, and what was given is met or
// refused.
//
// # What is kept
//
// The state folder ($XDG_STATE_HOME/ahp-canvas, or the system's own place for
// such) holds the two tokens and the last port in host.json, so that a page survives a
// restart of the host, with the number of the last run, by which a relay knows the
// newest; and sessions, open canvases and what they saved in
// store.db, with store.db-wal, -shm and -lock beside it (package sqlitestore). To
// restore a backup, move store.db* away and copy it there. --state memory keeps
// nothing. The folder is one
// host's at a time: its file "lock" is locked while that host lives, and holds
// its process id.
//
// # Output
//
// Standard output holds what was asked for: a table, or one JSON object a line
// with --json. Everything else goes to standard error. Only where that is a
// terminal, it also has a word about what takes longer than half a second, and
// below a running host a line of how things stand. Tokens and links stand on
// standard output, where a person or script asked for them, and never in a log.
//
// Exit status: 0 done; 1 the operation failed, and the message has its code, its
// cause and what to do next; 2 wrong usage. What is of this program alone, as a file
// that is absent, has no code for people; with --json, where each failure is one object
// on standard error, it is "failed".
package main
