package testcases

import (
	"cmp"
	"strings"
)

// The words of a transcript's "# needs:" line: what a host must have for the
// case to apply. If a host lacks one, the case is skipped and not failed.
const (
	NeedsCanvas   = "canvas"   // the Canvas surface
	NeedsAgent    = "agent"    // an endpoint at which the runner can act as the agent
	NeedsProvider = "provider" // canvases that a client provides
	NeedsDemo     = "demo"     // the extensions demo and other that README.md describes
	NeedsTokens   = "tokens"   // connections whose token is not the view token
	NeedsClock    = "clock"    // time that passes, fake or real
	NeedsLater    = "later"    // AHP 0.9, 0.10 and 1.x
	NeedsHost     = "host"     // an event inside the host, which only a host built for tests can cause
)

// The levels of a rule.
const (
	Must   = "MUST"   // the protocol says MUST, or allows no other reading
	Should = "SHOULD" // the protocol says SHOULD
	Ours   = "OURS"   // the protocol leaves it open; this host made the choice
)

// The side under test.
const (
	SideHost   = "host"   // the runner plays the clients (Transcript.Run)
	SideClient = "client" // the runner plays the host (Transcript.RunClient)
)

// Side returns the side under test: the "# side:" line, or [SideHost].
func (t *Transcript) Side() string { return cmp.Or(t.Meta["side"], SideHost) }

// Level returns the level of the case's rule, [Must], [Should] or [Ours]: the
// first word of its "# rule:" line.
func (t *Transcript) Level() string {
	level, _, _ := strings.Cut(t.Meta["rule"], " ")
	return level
}

// Place returns the document and section that has the rule.
func (t *Transcript) Place() string {
	_, place, _ := strings.Cut(t.Meta["rule"], " ")
	return place
}

// Needs returns the words of the "# needs:" line. None means that the case
// applies to every AHP host.
func (t *Transcript) Needs() []string { return strings.Fields(t.Meta["needs"]) }
