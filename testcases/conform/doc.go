// Package conform plays the transcripts of package testcases against a host that
// runs somewhere: over real sockets and in real time.
//
// # What it promises
//
//   - A case runs in a namespace of its own ([names]): the sessions and client ids
//     of a transcript get a prefix on their way to the host, which is taken away
//     again on the way back. So cases do not meet each other, nor what else is on
//     the host; expectations and reports speak the transcript's own names.
//   - A session that a transcript takes for given (ahp-session:/default) is made
//     before the case and disposed of after it.
//   - What a case needs and the host does not have is no failure: the case is
//     skipped, for a reason that is counted ([Report.Skipped]).
//   - A failure is told with the step, what was wanted and what came.
//
// # Time
//
// Where a transcript says that nothing comes, a ping is sent on the connection,
// and what was answered before it has come: a host answers each connection in
// order. Expected frames are waited for ([Options.Patience]). When three cases in a
// row could not begin, the others are skipped: the host is gone.
//
// # The demo extensions
//
// Many cases speak of the extensions demo and other. A host has them only where
// it was built for these tests ([Options.Demo]). For every other one two clients
// stand in for them ([standIn]): they provide the same canvases as clients do, and
// what the host says of these clients is told to the case as if it were said of
// extensions of the host. That is a lens, and its edges are known: what only an
// extension inside the host can do is skipped (skip.go).
//
// # What the names do not hide
//
// Rows of other sessions in listSessions, and root notifications of them, are
// taken out; counts of sessions are not: those cases bind the count first. So a
// host is best tested while nobody else uses it.
//
// # Ownership
//
// A Run owns all connections that it opens and returns when they are closed and
// their goroutines are gone. Cases run one after the other. [Proxy] is the
// connection between a client and a host as something that can be written down
// (ahp-canvas record) or spoiled (the tests' seeded faults).
//
// The package imports testcases, testcases/demo, testcases/wire, canvas, session,
// canvas/client, ahp/proof, ahp/ws and ahp.
package conform
