package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// offers says what a host must offer for the cases with a word in their needs line, or
// what this command does about it.
var offers = []struct{ word, text string }{
	{"", "A WebSocket with initialize, ping, createSession, subscribe, dispatchAction, reconnect and disposeSession."},
	{testcases.NeedsCanvas, "canvases and openCanvases in the state of a session, for clients with the capability canvas."},
	{testcases.NeedsProvider, "Canvases that a client declares with session/activeClientSet. The command is that client."},
	{testcases.NeedsAgent, "The agent's tools, at an MCP endpoint (--mcp) or by a command (--open-cmd), in the session that they name: "},
	{testcases.NeedsDemo, "Nothing: clients of the command declare these canvases. A few cases need them inside the host (--demo)."},
	{testcases.NeedsClock, "Patience. Cases that wait longer than 5 seconds need --slow."},
	{testcases.NeedsHost, "Nothing, if a client can stand in: for a provider that is lost, or a title that changes. Otherwise a host built for tests."},
	{testcases.NeedsLater, "AHP 0.9, 0.10 and 1.x. The command asks the host which versions it speaks; of a host without 0.5 and 0.6 it plays these cases only."},
	{testcases.NeedsTokens, "A host built for tests, with tokens of several kinds."},
}

// needsLine is a line of --needs with --json: a case.
type needsLine struct {
	Case  string   `json:"case"`
	Level string   `json:"level"`
	Needs []string `json:"needs"`
	Tools []string `json:"tools"`
}

// printNeeds lists what the cases need: each case with --json, otherwise the counts.
func printNeeds(env *term.Env, o options) error {
	cases, err := readCases(o.files)
	if err == nil && cases == nil {
		cases, err = testcases.Transcripts()
	}
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(t *testcases.Transcript) bool {
		return len(o.only) > 0 && !slices.ContainsFunc(o.only, func(part string) bool { return strings.Contains(t.Name, part) })
	})
	if !env.JSON {
		return printOffers(env, cases)
	}
	for _, t := range cases {
		line := needsLine{t.Name, t.Level(), append([]string{}, t.Needs()...), append([]string{}, conform.Tools(t)...)}
		if err := env.PrintJSON(line); err != nil {
			return err
		}
	}
	return nil
}

func printOffers(env *term.Env, cases []*testcases.Transcript) error {
	var tools []string
	for _, t := range cases {
		tools = append(tools, conform.Tools(t)...)
	}
	slices.Sort(tools)
	fmt.Fprintf(env.Out, "%-10s%6s  %s\n", "NEEDS", "CASES", "WHAT A HOST MUST OFFER")
	for _, offer := range offers {
		n := 0
		for _, t := range cases {
			if offer.word == "" || slices.Contains(t.Needs(), offer.word) {
				n++
			}
		}
		text := offer.text
		if offer.word == testcases.NeedsAgent {
			text += strings.Join(slices.Compact(tools), ", ") + "."
		}
		for i, line := range term.Fold(text, env.Columns()-18) {
			if i == 0 {
				fmt.Fprintf(env.Out, "%-10s%6d  %s\n", offer.word, n, line)
			} else {
				fmt.Fprintf(env.Out, "%18s%s\n", "", line)
			}
		}
	}
	_, err := fmt.Fprintln(env.Out, "\n--json lists the cases one by one, with the agent's tools that each calls.")
	return err
}
