package testcases

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

// covers is a set of uses of a name that the transcripts must have.
type covers uint8

const (
	accepted   covers = 1 << iota // a result, or an echo without a reason
	refused                       // an error, or an echo with a reason
	unprompted                    // sent by the host unprompted
	both       = accepted | refused
)

// The rows come from the protocol's own lists, not from the code:
// ahp/PROTOCOL.md sections 1a, 1b, 3c and 4, and the Canvas proposal (#297),
// sections 4, 5, 7 and 10. TestCoverageKnowsTheCode finds what only the code
// has.
var (
	methodRows = map[string]covers{
		"initialize": both, "ping": accepted, "reconnect": both, "subscribe": both, "listSessions": both, "createSession": both, "disposeSession": both,
		"resourceRead": both, "resourceResolve": both, "resourceRequest": refused, "resourceList": refused,
		"resourceWrite": refused, "resourceCopy": refused, "resourceMove": refused, "resourceDelete": refused, "resourceMkdir": refused, "createResourceWatch": refused,
		"authenticate": refused, "resolveSessionConfig": accepted, "sessionConfigCompletions": both,
		"completions": refused, "createChat": refused, "disposeChat": refused, "fetchTurns": refused, "createTerminal": refused, "disposeTerminal": refused,
		"invokeChangesetOperation": refused,
		"canvasReadResource":       both, "canvasOpen": refused, "canvasInvokeAction": refused, "canvasClose": refused,
		// This host's own (canvas/PROTOCOL.md section 7.2 to 7.4).
		"x-ahp-canvas/setPrivate": both, "x-ahp-canvas/people": both, "x-ahp-canvas/undoClose": both, "x-ahp-canvas/personOpen": both, "x-ahp-canvas/history": both, "x-ahp-canvas/invite": both,
		"x-ahp-canvas/direct": refused, // accepted in the tests of the page
		// Notifications, sent as requests.
		"dispatchAction": refused, "unsubscribe": refused, "action": refused,
	}
	actionRows = map[string]covers{
		"session/titleChanged": both | unprompted, "session/isReadChanged": both, "session/isArchivedChanged": both, "session/activeClientSet": both,
		"session/activeClientRemoved": both | unprompted, "session/customizationToggled": both,
		// Accepted as session/activeClientSet and session/activeClientRemoved.
		"session/activeClientChanged": refused,
		// Accepted only if a session has a config; no session of this host has
		// one.
		"session/configChanged": refused, "root/configChanged": refused,
		"session/ready": refused, "session/creationFailed": refused, "session/activityChanged": refused, "session/serverToolsChanged": refused, "session/metaChanged": refused,
		"session/changesetsChanged": refused, "session/chatAdded": refused, "session/chatRemoved": refused, "session/chatUpdated": refused, "session/defaultChatChanged": refused,
		"session/customizationsChanged": refused, "session/customizationUpdated": refused, "session/customizationRemoved": refused, "session/mcpServerStateChanged": refused,
		"session/canvasesChanged": refused, "session/openCanvasesChanged": refused | unprompted,
		"root/agentsChanged": refused, "root/activeSessionsChanged": refused | unprompted, "root/terminalsChanged": refused,
		"canvas/updated": refused | unprompted, "canvas/closeRequested": both, "canvas/message": both | unprompted,
	}
	notificationRows = []string{"action", "x-ahp-canvas/moved", "root/sessionAdded", "root/sessionRemoved", "root/sessionSummaryChanged"}
	canvasCodeRows   = []string{
		"canvas_not_found", "canvas_instance_not_found", "canvas_session_not_found", "canvas_ambiguous", "canvas_already_open", "canvas_input_invalid",
		"canvas_action_no_handler", "canvas_provider_unavailable", "canvas_handler_error", "canvas_timeout", "canvas_limit_exceeded",
	}
	// Transcripts cannot show these, for the reasons beside them.
	unshown = map[string]string{
		"InternalError":               "a fault of the host's own",
		"AlreadyExists":               "the code of canvas_already_open in Go; a client has no method that answers it",
		"Conflict":                    "resourceWrite is not served",
		"canvas_reserved_action_name": "a declaration is refused where a Go program registers it",
	}
)

// shown has the uses of each name in a set of transcripts.
type shown struct {
	methods, actions     map[string]covers
	notifications, codes map[string]bool
	canvasCodes          map[string]bool
}

type wireFrame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code json.RawMessage `json:"code"`
	} `json:"error"`
}

type wireAction struct {
	Action struct {
		Type any `json:"type"`
	} `json:"action"`
	Origin          *struct{} `json:"origin"`
	RejectionReason *string   `json:"rejectionReason"`
}

func readShown(all []*Transcript) shown {
	s := shown{map[string]covers{}, map[string]covers{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, tr := range all {
		asked := map[string]string{} // method by connection and id
		for _, step := range tr.Steps {
			s.step(step, asked)
		}
	}
	return s
}

func (s *shown) step(step Step, asked map[string]string) {
	var f wireFrame
	text := placeholder.ReplaceAllString(step.Text, "0")
	if step.Op == OpExpect {
		text = step.Text
	}
	readable := json.Unmarshal([]byte(text), &f) == nil
	switch {
	case step.Op == OpAgentError:
		var e struct{ Code string }
		_ = json.Unmarshal([]byte(step.Text), &e)
		s.canvasCodes[e.Code] = true
	case !readable:
	case step.Op == OpSend && f.ID != nil:
		asked[step.Conn+string(f.ID)] = f.Method
	case step.Op == OpExpect:
		s.received(step, f, asked)
	}
}

func (s *shown) received(step Step, f wireFrame, asked map[string]string) {
	method := asked[step.Conn+string(f.ID)]
	switch {
	case f.Error != nil:
		s.methods[method] |= refused
		s.codes[string(f.Error.Code)] = true
	case f.Method == "":
		s.methods[method] |= accepted
	default:
		s.notifications[f.Method] = true
		var a wireAction
		_ = json.Unmarshal(f.Params, &a)
		if tag, ok := a.Action.Type.(string); ok {
			s.actions[tag] |= fate(a)
		}
	}
}

func fate(a wireAction) covers {
	switch {
	case a.RejectionReason != nil:
		return refused
	case a.Origin != nil:
		return accepted
	}
	return unprompted
}

// laterActions are those of the later versions, which are in no table of 0.5 and 0.6.
var laterActions = map[string]covers{
	"chat/turnStarted": both, "chat/responsePart": unprompted, "chat/turnComplete": unprompted,
	"chat/toolCallStart": unprompted, "chat/toolCallReady": unprompted, "chat/toolCallComplete": unprompted,
	"chat/canvasesChanged": unprompted, "canvas/stateChanged": unprompted,
	"chat/turnCancelled": accepted, "chat/draftChanged": accepted, "chat/isReadChanged": accepted, "chat/isArchivedChanged": accepted,
}

func TestCoverage(t *testing.T) {
	s := readShown(transcripts(t))
	for name, want := range methodRows {
		missing(t, "method "+name, want, s.methods[name])
	}
	for name, want := range actionRows {
		missing(t, "action "+name, want, s.actions[name])
	}
	for name, want := range laterActions {
		missing(t, "action "+name, want, s.actions[name])
	}
	for _, name := range notificationRows {
		if !s.notifications[name] {
			t.Errorf("notification %s: no transcript", name)
		}
	}
	for code, name := range ahp.Codes {
		if text := string(ahp.MustMarshal(code)); !s.codes[text] && unshown[name] == "" {
			t.Errorf("error %s (%s): no transcript", text, name)
		}
	}
	for _, code := range canvasCodeRows {
		if !s.canvasCodes[code] {
			t.Errorf("code %s: no transcript", code)
		}
	}
}

func missing(t *testing.T, what string, want, have covers) {
	t.Helper()
	for bit, word := range map[covers]string{accepted: "accepts it", refused: "refuses it", unprompted: "has the host send it"} {
		if want&bit != 0 && have&bit == 0 {
			t.Errorf("%s: no transcript %s", what, word)
		}
	}
}

// TestCoverageExceptions checks that no exception is shown after all.
func TestCoverageExceptions(t *testing.T) {
	s := readShown(transcripts(t))
	for code, name := range ahp.Codes {
		if unshown[name] != "" && s.codes[string(ahp.MustMarshal(code))] {
			t.Errorf("%s is shown by a transcript; remove it from the exceptions", name)
		}
	}
	for code := range s.canvasCodes {
		if unshown[code] != "" {
			t.Errorf("%s is shown by a transcript; remove it from the exceptions", code)
		}
		if strings.HasPrefix(code, "canvas_") && !slices.Contains(canvasCodeRows, code) {
			t.Errorf("%s is no code of canvas/PROTOCOL.md section 3", code)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.actions)) {
		if actionRows[name] == 0 && laterActions[name] == 0 && s.actions[name] != refused {
			t.Errorf("%s is accepted but is no action of the documents", name)
		}
	}
}

// TestCoverageKnowsTheMethods checks that every method of the code has a row
// here. Notifications are shown by their effects.
func TestCoverageKnowsTheMethods(t *testing.T) {
	for _, m := range wire.Methods() {
		if methodRows[m.Name] == 0 && !slices.Contains(notificationRows, m.Name) {
			t.Errorf("method %s has no row here, so no transcript has to show it", m.Name)
		}
	}
}

// TestCoverageKnowsTheCode compares the protocol's list of actions with the
// host's tables, in both directions.
func TestCoverageKnowsTheCode(t *testing.T) {
	known := map[string]bool{}
	for _, kind := range canvas.ChannelKinds {
		for _, row := range kind.Actions.Rows() {
			known[row.Type] = true
			if actionRows[row.Type] == 0 {
				t.Errorf("action %s has no row here, so no transcript has to show it", row.Type)
			}
			if client := row.From&ahp.FromClient != 0; client && !row.Alias && actionRows[row.Type] == refused && !strings.HasSuffix(row.Type, "/configChanged") {
				t.Errorf("action %s: a client may send it, and no transcript shows that", row.Type)
			}
		}
	}
	for name := range actionRows {
		if !known[name] {
			t.Errorf("action %s of the documents is in no table of the host", name)
		}
	}
}
