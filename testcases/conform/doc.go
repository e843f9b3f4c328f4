// Package conform plays the transcripts of package testcases against a running
// host, over real sockets and in real time.
//
// # Guarantees
//
//   - Each case runs in its own namespace: the sessions and client ids of a
//     transcript get a prefix in frames to the host, which is removed from the
//     frames of the host. So cases do not affect each other or other users of the
//     host, and expectations and reports have the transcript's names.
//   - The session that transcripts assume (ahp-session:/default) is created before
//     each case and disposed of after it.
//   - A case that needs something that the host does not have is skipped, not
//     failed, and its reason is counted ([Report.Skipped]).
//   - A failure reports the step, the expected frame and the actual one.
//
// # Time
//
// If a transcript expects no frame, the runner sends a ping on the connection and
// waits for the response: a host answers each connection in order, so every frame
// that was caused before has then arrived. It waits for an expected frame for
// [Options.Timeout]. If the sessions of three cases in a row cannot be created, it
// takes the host for unreachable and skips the other cases.
//
// # The demo extensions
//
// Many cases use the extensions demo and other. Only a host built for these tests
// has them ([Options.Demo]). For every other host two clients provide the same
// canvases ([standIn]), and frames about these clients are rewritten as if they
// were about extensions of the host. Another client changes titles in the host's place.
// Cases that need what only an extension inside the host, or the host itself, can do are
// skipped (skip.go).
//
// # The agent
//
// No client can open a canvas, so cases in which one is open need an [Agent]. A case
// whose agent lacks a tool is skipped, and the reason names the tool.
//
// # Limits of the namespace
//
// The runner removes the sessions of others from listSessions, and root
// notifications about them. It cannot correct counts of sessions; cases that need
// one bind it first. So a host is best tested while nothing else uses it.
//
// # Ownership
//
// Run owns the connections that it opens, and returns when they are closed and
// their goroutines have ended. Cases run one after the other. [Proxy] sits between
// a client and a host, to record the exchange (ahp-canvas record) or to inject
// faults (the tests of this package).
package conform
