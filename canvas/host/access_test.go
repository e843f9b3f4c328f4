package host_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// payloads are actions that are valid but for the role of their sender.
var payloads = map[string]string{
	"canvas/message":               `"payload":{"press":"approve"}`,
	"canvas/closeRequested":        ``,
	"canvas/updated":               `"title":"T"`,
	"session/activeClientSet":      `"activeClient":{"clientId":"c1","tools":[]}`,
	"session/activeClientRemoved":  `"clientId":"c1"`,
	"session/activeClientChanged":  `"activeClient":null`,
	"root/configChanged":           `"config":{}`,
	"session/isReadChanged":        `"isRead":true`,
	"session/isArchivedChanged":    `"isArchived":true`,
	"session/titleChanged":         `"title":"T"`,
	"session/configChanged":        `"config":{}`,
	"session/customizationToggled": `"id":"x","enabled":true`,
	"chat/turnStarted":             `"turnId":"t","startedAt":"2026-01-01T00:00:00.000Z","message":{"text":"hello"}`,
	"chat/turnCancelled":           `"turnId":"t"`,
	"chat/draftChanged":            `"draft":{"text":"he"}`,
	"chat/isReadChanged":           `"isRead":true`,
	"chat/isArchivedChanged":       `"isArchived":true`,
}

// TestMatrix: a host refuses exactly what the published matrix does not permit, with the
// code role_required. What a role may do only in sessions that its token created it may not do in the
// default session, and a View that may only say hello sends nothing else.
func TestMatrix(t *testing.T) {
	published, err := os.ReadFile("../../testcases/roles/matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(published, access.Data()) {
		t.Error("testcases/roles/matrix.json differs from ahp/access/matrix.json: copy it")
	}
	for _, role := range access.Roles() {
		for _, rule := range access.Rules() {
			t.Run(role+"/"+rule.Name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e := newEnv(t)
					defer e.stop()
					answer := e.try(role, rule)
					refused := strings.Contains(answer, access.CodeRoleRequired)
					if permitted := rule.Of(role) == "yes"; refused == permitted {
						t.Errorf("the matrix says %q, the answer is %s", rule.Of(role), answer)
					}
				})
			})
		}
	}
}

// defaultChat is the chat of the default session, as clients of later versions know it.
const defaultChat = "ahp-chat://default/YWhwLXNlc3Npb246L2RlZmF1bHQ"

// try sends one message as a role and returns the answer or the echo.
func (e *env) try(role string, rule access.Rule) string {
	e.t.Helper()
	open, err := e.host.Canvases().Open(e.t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "counter", ExtensionID: "demo", InstanceID: "one"})
	if err != nil {
		e.t.Fatal(err)
	}
	c, err := e.Dial(e.t.Context(), map[string]string{"token": role})
	if err != nil {
		e.t.Fatal(err)
	}
	chats := strings.HasPrefix(rule.Name, "chat/")
	first := rule.Name == ahp.Initialize.Name || rule.Name == ahp.Reconnect.Name
	switch {
	case first:
	case chats:
		e.ask(c, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientId":"c1","protocolVersions":["1.0.0"],"initialSubscriptions":[%q]}}`, defaultChat)
	default:
		e.ask(c, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","clientId":"c1","protocolVersions":["0.6.0"],"initialSubscriptions":["ahp-root://",%q,%q],"capabilities":{"canvas":{}}}}`, host.DefaultSession, open.Channel)
	}
	switch {
	case rule.Kind == "action":
		channel := host.DefaultSession
		if strings.HasPrefix(rule.Name, "root/") {
			channel = ahp.RootURI
		}
		if strings.HasPrefix(rule.Name, "canvas/") {
			channel = open.Channel
		}
		if chats {
			channel = defaultChat
		}
		action := fmt.Sprintf(`{"type":%q,%s}`, rule.Name, payloads[rule.Name])
		return e.ask(c, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":%q,"clientSeq":1,"action":%s}}`, channel, strings.Replace(action, ",}", "}", 1))
	case rule.Name == ahp.Unsubscribe.Name || rule.Name == ahp.DispatchAction.Name:
		return "" // notifications, which have no answer
	}
	return e.ask(c, `{"jsonrpc":"2.0","id":2,"method":%q,"params":{"channel":%q}}`, rule.Name, host.DefaultSession)
}

// ask sends a message and returns what arrives.
func (e *env) ask(c testcases.Conn, format string, args ...any) string {
	e.t.Helper()
	if err := c.Send(fmt.Appendf(nil, format, args...)); err != nil {
		e.t.Fatal(err)
	}
	frame, err := c.Next()
	if err != nil {
		e.t.Fatal(err)
	}
	return string(frame)
}

// TestMatrixIsComplete: the matrix has each method and each action that a client can send.
func TestMatrixIsComplete(t *testing.T) {
	have := map[string]bool{}
	for _, rule := range access.Rules() {
		if have[rule.Name] {
			t.Errorf("%s: two rules", rule.Name)
		}
		have[rule.Name] = true
	}
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, name := range h.MethodNames() {
		if !have[name] {
			t.Errorf("method %s has no rule", name)
		}
		delete(have, name)
	}
	tables := []*ahp.ActionTable{chat.Actions}
	for _, kind := range canvas.ChannelKinds {
		tables = append(tables, kind.Actions)
	}
	for _, actions := range tables {
		for _, row := range actions.Rows() {
			if row.From&(ahp.FromClient|ahp.FromProvider) == 0 {
				continue
			}
			if !have[row.Type] {
				t.Errorf("action %s has no rule", row.Type)
			}
			delete(have, row.Type)
		}
	}
	for name := range have {
		t.Errorf("%s has a rule, and no client can send it", name)
	}
}
