package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

// TestAjv checks with ajv, a strict validator, that every definition compiles,
// and that messages of the fixtures and transcripts are valid if and only if
// the Go types accept them. Mutations of required members and tags must be
// invalid.
func TestAjv(t *testing.T) {
	frames, host := transcriptFrames(t)
	clients, figures := clientChecks(t, frames)
	fixtures, side, bridge := fixtureChecks(t), clientSideChecks(t), bridgeChecks(t)
	t.Logf("%d values of fixtures, %d frames of hosts, %d of the client's side, %d of the bridge; frames of clients: %v",
		len(fixtures), len(host), len(side), len(bridge), figures)
	if min(len(fixtures), len(host), len(side), len(bridge)) == 0 || len(figures) != 6 {
		t.Error("a kind of messages is missing: the corpus is not read as it should be")
	}
	tools(t)
	verdict := run(t, "node", "ajv.mjs", write(t, map[string]any{"cases": slices.Concat(fixtures, host, clients, side, bridge)}))
	report(t, verdict)
	judge(t, verdict)
}

// clientChecks are the frames that clients send in the transcripts that test a
// host, with what the Go types make of each.
func clientChecks(t *testing.T, frames []*sent) (checks []check, figures map[string]int) {
	t.Helper()
	figures = map[string]int{}
	for _, s := range frames {
		switch method := unquote(s.frame.Method); {
		case !s.json:
			figures["no JSON"]++
			continue
		case strings.HasPrefix(method, "answer to "):
			figures["answers"]++
			checks = append(checks, answer(s))
			continue
		case s.frame.Method == nil && (s.frame.Result != nil || s.frame.Error != nil):
			figures["answers to nothing"]++
			continue
		}
		c := check{s.name, s.clientSchema(), s.text, message(s.frame, ahp.ClientToHost), false}
		switch {
		case s.fate == answered && !c.Valid:
			t.Errorf("%s: the host accepts %s, the Go types do not", s.name, s.text)
		case s.code == ahp.CodeMethodNotFound && c.Valid:
			t.Errorf("%s: the host does not know %s, the tables do", s.name, s.text)
		case !c.Valid:
			figures["to refuse"]++
		case s.fate == failed:
			figures["valid, but refused for value, time or sender"]++
		default:
			figures["valid"]++
		}
		checks = append(checks, c)
	}
	return checks, figures
}

// answer checks a client's response to a host's request.
func answer(s *sent) check {
	method := strings.TrimPrefix(unquote(s.frame.Method), "answer to ")
	if s.frame.Error != nil {
		return check{s.name, "ErrorResponse", s.text, true, false}
	}
	return check{s.name, upper(method) + "Response", s.text, result(method, s.frame.Result), false}
}

// judge compares the verdict on each sample that lacks a member with the Go
// types: both must require the same members.
func judge(t *testing.T, verdict ahp.Value) {
	t.Helper()
	var r struct {
		Mutants []check `json:"mutants"`
	}
	if err := ahp.Unmarshal(verdict, &r); err != nil {
		t.Fatal(err)
	}
	types, judged := wire.Types(), 0
	for _, m := range r.Mutants {
		if strings.HasSuffix(m.Schema, "Action") {
			for _, table := range tables {
				if row := table.Row(tagOf(m.Value)); row != nil {
					_, err := table.Decode(m.Value)
					m.is(t, err == nil)
					judged++
				}
			}
		} else if typ := types[m.Schema]; typ != nil {
			m.is(t, fits(typ, m.Value))
			judged++
		}
	}
	if judged < 200 {
		t.Errorf("only %d samples have a Go type", judged)
	}
	t.Logf("%d samples without a member, judged by the Go types too", judged)
}

func (c check) is(t *testing.T, valid bool) {
	t.Helper()
	if c.Valid != valid {
		t.Errorf("%s: valid for the schema: %v, for the Go types: %v: %.300s", c.Name, c.Valid, valid, c.Value)
	}
}
