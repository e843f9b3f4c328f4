package testcases

import (
	"cmp"
	"strings"
)

// The words of a transcript's "# needs:" line: what a host must have for the
// case to say anything about it. A host that lacks one of them has not failed
// the case; it is skipped and counted apart.
const (
	NeedsCanvas   = "canvas"   // the Canvas surface
	NeedsAgent    = "agent"    // a door where the runner can act as the agent
	NeedsProvider = "provider" // canvases that a client provides
	NeedsDemo     = "demo"     // the extensions demo and other of README.md
	NeedsTokens   = "tokens"   // connections with a token other than the view token
	NeedsClock    = "clock"    // time passes: a fake clock, or patience
	NeedsHost     = "host"     // something happens inside the host: only one that was built for tests
)

// The levels of a rule.
const (
	Must   = "MUST"   // the documents say MUST, or leave no other reading
	Should = "SHOULD" // the documents say SHOULD
	Ours   = "OURS"   // the documents leave it open; this is the choice of this host
)

// Who is under test.
const (
	SideHost   = "host"   // the runner plays the clients: Run
	SideClient = "client" // the runner plays the host: RunClient
)

// Side returns who is under test: the "# side:" line, [SideHost] without one.
func (t *Transcript) Side() string { return cmp.Or(t.Meta["side"], SideHost) }

// Level returns how strong the case's rule is: [Must], [Should] or [Ours], the
// first word of its "# rule:" line.
func (t *Transcript) Level() string {
	level, _, _ := strings.Cut(t.Meta["rule"], " ")
	return level
}

// Place returns where the rule stands: a document and a section of it.
func (t *Transcript) Place() string {
	_, place, _ := strings.Cut(t.Meta["rule"], " ")
	return place
}

// Needs returns the words of the "# needs:" line, in the order of the constants
// above; none means that every AHP host can be asked.
func (t *Transcript) Needs() []string { return strings.Fields(t.Meta["needs"]) }
