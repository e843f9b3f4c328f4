package schema_test

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

// check is a value that a schema must accept or refuse.
type check struct {
	Name   string    `json:"name"`
	Schema string    `json:"schema"`
	Value  ahp.Value `json:"value"`
	Valid  bool      `json:"valid"`
	Open   bool      `json:"open,omitzero"` // it contains "$*" or similar
}

// fixtureChecks are all values of the reducer fixtures and round-trips. A
// schema must refuse an action that its channel kind does not have.
func fixtureChecks(t *testing.T) []check {
	t.Helper()
	reducers, err := testcases.Reducers()
	if err != nil {
		t.Fatal(err)
	}
	var all []check
	for _, c := range reducers {
		kind := strings.ToUpper(c.Reducer[:1]) + c.Reducer[1:]
		all = append(all, check{c.Name + " initial", kind + "State", c.Initial, true, false}, check{c.Name + " expected", kind + "State", c.Expected, true, false})
		for i, a := range c.Actions {
			_, err := tables[kind].Decode(a)
			row := tables[kind].Row(tagOf(a))
			all = append(all, check{fmt.Sprint(c.Name, " action ", i), kind + "Action", a, err == nil && row != nil && !row.Alias, false})
		}
	}
	trips, err := testcases.RoundTrips()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range trips {
		all = append(all, tripCheck(c))
	}
	return all
}

// laterValue is the value in round-trips that stands for a value of a later
// version's enumeration. Readers keep it; the schema of this version refuses
// it.
var laterValue = []byte(`: "x-later"`)

func tripCheck(c testcases.RoundTripCase) check {
	out := check{"round-trip " + c.File, c.Type, c.Input, true, false}
	switch c.Type {
	case "StateAction":
		out.Schema, out.Valid = "SessionAction", false
		for _, kind := range slices.Sorted(maps.Keys(tables)) {
			if tables[kind].Row(tagOf(c.Input)) != nil {
				out.Schema, out.Valid = kind+"Action", true
			}
		}
	case "Customization": // any object, so it has no definition
		out.Schema, out.Value = "SessionCustomizationUpdatedAction", ahp.Value(`{"type":"session/customizationUpdated","customization":`+string(c.Input)+`}`)
	case "CanvasState", "SessionState":
		out.Valid = !bytes.Contains(c.Input, laterValue)
	default:
		out.Valid = fits(wire.Types()[c.Type], c.Input)
	}
	return out
}

// actionTag matches what might be an action's type.
var actionTag = regexp.MustCompile(`"type":\s*"([^"/]+/[^"]+)"`)

// TestRefusedRoundTrips checks that the two rules in testcases/README.md
// determine which round-trips a schema refuses.
func TestRefusedRoundTrips(t *testing.T) {
	trips, err := testcases.RoundTrips()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range trips {
		says := bytes.Contains(c.Input, laterValue)
		for _, m := range actionTag.FindAllSubmatch(c.Input, -1) {
			says = says || !slices.ContainsFunc(slices.Collect(maps.Values(tables)), func(t *ahp.ActionTable) bool { return t.Row(string(m[1])) != nil })
		}
		if check := tripCheck(c); !check.Valid && !says {
			t.Errorf("%s: the schema refuses it, but neither rule explains that", check.Name)
		}
	}
}

func tagOf(action ahp.Value) string {
	tag, _ := ahp.ActionTag(action)
	return tag
}

// sent is a frame that a client sends in a transcript, and its fate.
type sent struct {
	name  string
	conn  string
	text  ahp.Value
	frame frame
	json  bool // it is JSON for a strict reader
	fate  fate
	code  ahp.Code
}

// dropNulls removes the nulls that a host reads as absence: a schema says what to write
// (ahp/PROTOCOL.md section 1).
func (s *sent) dropNulls() {
	i := slices.IndexFunc(methods, func(m ahp.MethodRow) bool { return m.Name == unquote(s.frame.Method) })
	if i < 0 || s.frame.Params == nil || s.frame.Params.Kind() != '{' {
		return
	}
	params := ahp.WithoutNulls(s.frame.Params, methods[i].Params)
	var p ahp.DispatchActionParams
	if methods[i].Name == ahp.DispatchAction.Name && ahp.Unmarshal(params, &p) == nil {
		for _, table := range tables {
			if row := table.Row(tagOf(p.Action)); row != nil && !row.Alias {
				p.Action = ahp.WithoutNulls(p.Action, row.GoType)
			}
		}
		params = ahp.MustMarshal(p)
	}
	if !ahp.Equal(params, s.frame.Params) {
		s.text = ahp.Value(strings.Replace(string(s.text), string(s.frame.Params), string(params), 1))
		s.frame.Params = params
	}
}

type fate uint8

const (
	silent   fate = iota // no response is expected, or it is unknown
	answered             // a result, or an echo without a reason
	failed               // an error, or an echo with a reason
)

type frame struct {
	JSONRPC ahp.Value `json:"jsonrpc,omitzero"`
	ID      ahp.Value `json:"id,omitzero"`
	Method  ahp.Value `json:"method,omitzero"`
	Params  ahp.Value `json:"params,omitzero"`
	Result  ahp.Value `json:"result,omitzero"`
	Error   ahp.Value `json:"error,omitzero"`
}

var (
	number   = regexp.MustCompile(`([:\[,])\$[a-z][A-Za-z0-9]*`)
	text     = regexp.MustCompile(`"\$[a-z][A-Za-z0-9]*"`)
	idMember = regexp.MustCompile(`"id":\s*"?([^",}]+)`)
	filler   = regexp.MustCompile(`\$\{fill:(\d+)\}`)
)

// concrete returns the frame that a client would send: names become values of
// the right kind, and long fillers are shortened, since no schema depends on
// them.
func concrete(line string) ahp.Value {
	if s, err := strconv.Unquote(line); err == nil && strings.HasPrefix(line, `"`) {
		return ahp.Value(s)
	}
	line = filler.ReplaceAllStringFunc(line, func(m string) string {
		n, _ := strconv.Atoi(filler.FindStringSubmatch(m)[1])
		return strings.Repeat("x", min(n, 3000))
	})
	line = text.ReplaceAllString(line, `"ahp-canvas:/plan"`)
	return ahp.Value(number.ReplaceAllString(line, "${1}7"))
}

// clientSchema returns the definition of a client's message.
func (s *sent) clientSchema() string {
	if s.frame.ID == nil {
		return "ClientNotification"
	}
	return "ClientRequest"
}

// transcriptFrames returns the frames of clients, and checks of the frames of
// hosts.
func transcriptFrames(t *testing.T) (all []*sent, host []check) {
	t.Helper()
	transcripts, err := testcases.Transcripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range transcripts {
		if slices.Contains(tr.Needs(), testcases.NeedsLater) {
			continue // the schemas are of 0.5 and 0.6
		}
		var pending []*sent
		requests := map[string]string{} // by connection and id of the host's request
		for _, step := range tr.Steps {
			name := fmt.Sprintf("%s:%d", tr.Name, step.Line)
			switch step.Op {
			case testcases.OpSend:
				s := &sent{name: name, conn: step.Conn, text: concrete(step.Text)}
				var whole ahp.Value
				s.json = ahp.Unmarshal(s.text, &whole) == nil
				_ = ahp.Unmarshal(s.text, &s.frame)
				s.dropNulls()
				if method := requests[step.Conn+idOf(step.Text)]; method != "" && s.frame.Method == nil {
					s.frame.Method = ahp.MustMarshal("answer to " + method)
				}
				all, pending = append(all, s), append(pending, s)
			case testcases.OpExpect:
				var f frame
				if ahp.Unmarshal(ahp.Value(step.Text), &f) != nil {
					continue // the whole frame is "$*"
				}
				if f.Method != nil && f.ID != nil {
					requests[step.Conn+idOf(step.Text)] = unquote(f.Method)
				}
				host = append(host, check{name, hostSchema(f, step.Conn, pending), ahp.Value(step.Text), true, true})
			}
		}
	}
	return all, host
}

// hostSchema returns the definition of a host's frame, and records the fate of
// the frame that it responds to.
func hostSchema(f frame, conn string, pending []*sent) string {
	switch {
	case f.Method != nil && f.ID != nil:
		return "HostRequest"
	case f.Method != nil:
		if e, ok := envelope(f); ok {
			echo(e, conn, pending)
		}
		return "HostNotification"
	}
	i := slices.IndexFunc(pending, func(s *sent) bool {
		return s.conn == conn && s.fate == silent && s.frame.Method != nil && ahp.Equal(s.frame.ID, f.ID) && s.frame.ID != nil
	})
	if f.Error != nil {
		if i >= 0 {
			var e ahp.Error
			_ = ahp.Unmarshal(f.Error, &e)
			pending[i].fate, pending[i].code = failed, e.Code
		}
		return "HostErrorResponse"
	}
	if i < 0 {
		return "an answer to nothing"
	}
	pending[i].fate = answered
	return upper(unquote(pending[i].frame.Method)) + "Response"
}

type wireEnvelope struct {
	Channel string `json:"channel"`
	Origin  struct {
		ClientSeq ahp.Value `json:"clientSeq"`
	} `json:"origin,omitzero"`
	Reason ahp.Value `json:"rejectionReason,omitzero"`
}

func envelope(f frame) (e wireEnvelope, ok bool) {
	err := ahp.Unmarshal(f.Params, &e)
	return e, err == nil && unquote(f.Method) == ahp.ActionNotification.Name && e.Origin.ClientSeq != nil
}

func echo(e wireEnvelope, conn string, pending []*sent) {
	for _, s := range pending {
		var p struct {
			ClientSeq ahp.Value `json:"clientSeq"`
		}
		if s.conn != conn || s.fate != silent || unquote(s.frame.Method) != ahp.DispatchAction.Name || ahp.Unmarshal(s.frame.Params, &p) != nil || !ahp.Equal(p.ClientSeq, e.Origin.ClientSeq) {
			continue
		}
		s.fate = answered
		if e.Reason != nil {
			s.fate = failed
		}
		return
	}
}

func unquote(v ahp.Value) string {
	var s string
	_ = ahp.Unmarshal(v, &s)
	return s
}

// upper returns a method as the names of definitions have it.
func upper(method string) (name string) {
	for part := range strings.SplitSeq(strings.TrimPrefix(method, "x-ahp-"), "/") {
		if part != "" {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return name
}
